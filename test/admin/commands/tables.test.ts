import { randomBytes } from 'node:crypto';
import { DeleteTableCommand, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import {
  constructIdOf,
  projectTables,
  type TableName,
} from '../../../contract/infrastructure/tables.ts';
import { importValues } from '../../fixtures/moved-subscriptions.ts';
import { useOperator } from '../../fixtures/operator.ts';
import { subscriptionJson } from '../../fixtures/subscription-lines.ts';

const operator = useOperator();

async function lose(...tables: readonly TableName[]) {
  const names = projectTables(operator.database.tables);
  for (const table of tables) {
    const command = new DeleteTableCommand({ TableName: names[table] });
    await operator.database.dynamo.send(command);
  }
}

const doctor = async () => {
  const { output } = await operator.runLocal(['doctor', '--json']);
  const findings: { check: string; level: string; message: string }[] = JSON.parse(output);
  return new Map(findings.map(({ check, level, message }) => [check, `${level}: ${message}`]));
};

const five = ['projects', 'vapidKeys', 'identityKeys', 'subscriptions', 'usage'] as const;

test.each([...five.map((table) => [table]), [...five, 'rateLimits' as const]])(
  'lost: %s %s: each command names it and the command that brings it back',
  async (...lost) => {
    const projectId = `of-${lost[0]!.toLowerCase()}-${lost.length}`;
    await operator.registry.create({ projectId, random: randomBytes });
    await importValues(operator, projectId, [subscriptionJson()]);
    expect((await doctor()).get('tables')).toMatch(/^ok: /);
    await lose(...lost);

    const names = lost.map((table) => `${constructIdOf(table)} ("${constructIdOf(table)}")`);
    const shown = await operator.runLocal(['subscriptions', 'export', projectId]);
    const needed = ['projects', 'subscriptions', 'usage'].includes(lost[0]!);
    if (needed) {
      expect(shown.messages).toBe(
        `Tables of the stack that do not exist: ${names.join(', ')}. Bring them back with: npm run -s carillon -- tables restore --local\n`,
      );
    }
    expect((await doctor()).get('tables')).toMatch(
      /^problem: Do not exist: .* tables restore --local$/,
    );

    const dry = await operator.runLocal(['tables', 'restore', '--dry-run']);
    expect(dry.output).toContain(
      `creates "${constructIdOf(lost[0]!)}" empty, because AWS has no backup of it`,
    );
    expect((await doctor()).get('tables')).toMatch(/^problem: /);
    expect(await operator.runLocal(['tables', 'restore'])).toMatchObject({ code: 1 });
    const restored = await operator.runLocal(['tables', 'restore', '--yes', '--json']);
    expect(JSON.parse(restored.output).restored.map(({ table }: never) => table)).toEqual(lost);
    expect((await doctor()).get('tables')).toMatch(/^ok: /);
    const again = await operator.runLocal(['tables', 'restore']);
    expect(again.output).toBe('All tables are there, and complete.\n');
    if (lost.length > 1) {
      const completed = { rateLimits: ['expiry'], subscriptions: ['expiry'] };
      expect(JSON.parse(restored.output).completed).toEqual(completed);
    }
  },
);

test('a dry run says what a table would get', async () => {
  const { dynamo, tables } = operator.database;
  const names = projectTables(tables);
  await dynamo.send(
    new UpdateTimeToLiveCommand({
      TableName: names.rateLimits,
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: false },
    }),
  );
  const { output } = await operator.runLocal(['tables', 'restore', '--dry-run']);
  expect(output).toContain(`${constructIdOf('rateLimits')}: would get the expiry of its items`);
  await operator.runLocal(['tables', 'restore']);
  expect((await doctor()).get('tables')).toMatch(/^ok: /);
});
