import { randomBytes } from 'node:crypto';
import { errorResponse } from 'aws-emulator/dynamodb-proxy';
import { unrecordedCommands } from '../../admin/commands/audit-entry.ts';
import { connect } from '../../admin/commands/connection.ts';
import { type RouteName, routes } from '../../contract/wire/routes.ts';
import type { AuditEntry } from '../../lambdas/store/audit.ts';
import { readTable } from '../fixtures/read-table.ts';
import type { ProjectCredentials } from '../fixtures/service.ts';
import { type ServiceOperator, startServiceOperator } from '../fixtures/service-operator.ts';
import { reopen } from '../fixtures/stored-slices.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

let operator: ServiceOperator;
let project: ProjectCredentials;
let isAuditAway = false;
let isErasureUnanswered = false;
const logged: string[] = [];

beforeAll(async () => {
  operator = await startServiceOperator({
    onLog: ({ text }) => logged.push(text),
    onDynamoDbCall: ({ operation, parameters: { TableName } }) =>
      isAuditAway && operation === 'PutItem' && String(TableName).includes('Audit')
        ? errorResponse('ResourceNotFoundException', 'No such table.')
        : isErasureUnanswered && operation === 'TransactWriteItems'
          ? 'lost response'
          : undefined,
  });
});
afterAll(() => operator.stop());
beforeEach(async () => {
  isAuditAway = false;
  isErasureUnanswered = false;
  project = await operator.service.createProject();
  await operator.service.subscribe(project, 'ada');
});

async function audit(...args: readonly string[]): Promise<readonly AuditEntry[]> {
  const { output } = await operator.run(['audit', project.projectId, ...args, '--json']);
  return JSON.parse(output);
}

const changing = Object.values(routes).flatMap((route) =>
  route.caller === 'owner' && route.method !== 'GET' ? [route.name] : [],
);

/** Makes a request that changes something. */
async function change(name: RouteName, owner: ProjectCredentials) {
  const { service } = operator;
  if (name === 'removeUser')
    return callWithValidRequest(service, owner, name, { query: '?userId=ada' });
  if (name === 'send') return callWithValidRequest(service, owner, name);
  const { body } = await service.send(project, { title: 'T' });
  await reopen(service, body.id);
  const parameters = { notificationId: body.id };
  return callWithValidRequest(service, owner, name, { parameters });
}

test.each(changing)('it is known afterwards who called %s', async (name) => {
  expect((await change(name, project)).status).toBeLessThan(300);
  expect(await audit()).toContainEqual(
    expect.objectContaining({ action: name, by: 'secret key', count: 1 }),
  );
});

test('a member is named, and a person is found by who has the user id only', async () => {
  const { service } = operator;
  const ann = { name: 'Ann', role: 'sender', random: randomBytes } as const;
  const { key } = await service.registry.invite(project.projectId, ann);
  await change('stopNotification', { ...project, secretKey: key });
  await change('removeUser', project);
  expect(await audit()).toContainEqual(
    expect.objectContaining({ action: 'stopNotification', by: 'Ann' }),
  );
  expect(await audit('ada')).toEqual([
    {
      ...{ projectId: project.projectId, at: expect.stringMatching(/^20\d\d-.*Z .{8}$/) },
      ...{ action: 'removeUser', by: 'secret key', count: 1 },
      subject: expect.stringMatching(/^[\w-]{43}$/),
    },
  ]);
  expect(await audit('grace')).toEqual([]);
  const stored = await readTable(service.dynamo, service.stack.dynamodb.tables.AUDIT_TABLE);
  expect(JSON.stringify(stored)).not.toContain('ada');
});

test('an erasure whose end is not known leaves an entry without a number', async () => {
  isErasureUnanswered = true;
  expect((await change('removeUser', project)).status).toBe(503);
  isErasureUnanswered = false;
  expect(await change('removeUser', project)).toMatchObject({ body: { removed: 0 } });
  const counts = (await audit('ada')).map(({ action, count }) => [action, count]);
  expect(counts).toEqual([
    ['removeUser', 0],
    ['removeUser', undefined],
  ]);
});

test('what cannot be written is logged, and the erasure is made', async () => {
  isAuditAway = true;
  expect(await change('removeUser', project)).toMatchObject({ status: 200, body: { removed: 1 } });
  expect(logged.join('')).toContain('The audit has no entry of this.');
  const { projectId } = project;
  const { code, messages } = await operator.run(['pause', projectId], undefined, async (place) => {
    const { tables, ...connection } = await connect(place);
    return { ...connection, tables: { ...tables, audit: 'no-table' } };
  });
  expect(code).toBe(0);
  expect(messages).toMatch(/^The audit has no entry of this: .+\n$/);
  expect((await operator.service.registry.get(projectId)).pausedAt).toBeDefined();
});

test('every command leaves an entry but those that change nothing and give nobody’s data away', () => {
  expect(unrecordedCommands).toEqual([
    ...['show', 'list', 'members', 'notifications list', 'doctor', 'audit'],
  ]);
});

test('entries of the command have what was chosen, and nothing that was typed', async () => {
  const { projectId } = project;
  const commands = [
    ['set', projectId, '--name', 'Typed', '--events', 'off'],
    ['rotate', projectId, 'identity'],
    ['invite', projectId, 'Ben', '--role', 'viewer'],
    ['revoke', projectId, 'Ben'],
    ['invite', projectId, 'Cy', '--role', 'viewer'],
    ['revoke', '--name', 'Cy', '--yes'],
    ['users', 'export', 'ada', '--project', projectId],
    ['users', 'delete', 'ada', '--project', projectId, '--yes'],
    ['revoke', projectId, 'carillon_sk_pasted'],
    // Leave none:
    ['show', projectId],
    ['subscriptions', 'prune', projectId, '--unseen-days', '30', '--dry-run'],
    ['users', 'delete', 'ada', '--project', projectId],
    ['delete', 'mistyped', '--yes'],
  ];
  for (const command of commands) await operator.run(command);
  const entries = (await audit()).toReversed();
  expect(entries.map(({ action, count, member }) => [action, count ?? member])).toEqual([
    ['set --name --events=off', undefined],
    [expect.stringMatching(/^rotate identity/), undefined],
    ['invite --role=viewer', 'Ben'],
    ['revoke', 'Ben'],
    ['invite --role=viewer', 'Cy'],
    ['revoke --name --yes', 'Cy'],
    ['users export --project', 1],
    ['users delete --yes --project', 1],
    ['revoke', undefined],
  ]);
  expect((await operator.run(['audit', projectId])).output).toMatch(/invite --role=viewer +Ben\n/);
  expect(await audit('ada')).toHaveLength(2);
  await operator.run(['delete', projectId, '--yes']);
  expect((await audit())[0]).toMatchObject({ action: 'delete --yes' });
});
