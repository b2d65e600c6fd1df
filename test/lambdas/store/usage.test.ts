import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { ProjectRef } from '../../../contract/wire/project.ts';
import { projectUsage } from '../../../lambdas/store/counters.ts';
import { useDatabase } from '../../fixtures/database.ts';

const database = useDatabase();

const usage = (project: ProjectRef) =>
  projectUsage(database.dynamo, database.tables.USAGE_TABLE)(project, '2026-11');

function put(Item: Record<string, unknown>) {
  return database.dynamo.send(new PutCommand({ TableName: database.tables.USAGE_TABLE, Item }));
}

test('the usage of a project is the sum of its parts, and of one month', async () => {
  const { ref: project } = await database.createProject();
  for (const [period, used] of [
    ['subscribers#0', -3],
    ['subscribers#7', 12],
    ['2026-10#0', 1],
    ['2026-11#0', 20],
    ['2026-11#7', -3],
    ['2026-12#0', 400],
  ]) {
    await put({ projectRef: project, period, used });
  }
  expect(await usage(project)).toEqual({
    subscribers: 9,
    month: '2026-11',
    sends: 17,
  });
});

test('an unknown project has used nothing', async () => {
  const nothing = { subscribers: 0, month: '2026-11', sends: 0 };
  expect(await usage('unknown' as ProjectRef)).toEqual(nothing);
});
