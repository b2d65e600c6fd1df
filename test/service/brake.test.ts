import { DeleteCommand, ScanCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import { sliceId } from '../../lambdas/store/items.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { readTable } from '../fixtures/read-table.ts';
import type { ProjectCredentials } from '../fixtures/service.ts';
import { type ServiceOperator, startServiceOperator } from '../fixtures/service-operator.ts';
import { until } from '../fixtures/until.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

/** What an operator does about a wrong broadcast, without a key of its project. */

let operator: ServiceOperator;

beforeAll(async () => {
  operator = await startServiceOperator({ environment: { PUSHES_PER_SECOND: '10' } });
});
afterAll(() => operator.stop());

async function runJson(args: readonly string[]) {
  const { code, output, messages } = await operator.run([...args, '--json']);
  return { code, messages, result: JSON.parse(output || messages) };
}

async function projectWithBrowsers(count: number) {
  const { service } = operator;
  const project = await service.createProject();
  const browsers = await Promise.all(
    Array.from({ length: count }, () => service.subscribe(project)),
  );
  return { project, browsers };
}

const received = (browsers: readonly SimulatedBrowser[]) =>
  browsers.reduce((sum, { messages }) => sum + messages.length, 0);

async function stopAfterFirstPushes(
  { projectId }: ProjectCredentials,
  browsers: readonly SimulatedBrowser[],
  ...options: readonly string[]
) {
  await until('some pushes arrive', () => received(browsers) >= 3);
  return runJson(['notifications', 'stop', projectId, ...options]);
}

test('a broadcast is stopped without a key, and its final counts are printed', async () => {
  const { project, browsers } = await projectWithBrowsers(100);
  const { projectId } = project;
  const sending = operator.service.send(project, { title: 'Wrong', tag: 'offer' });
  const { code, messages, result } = await stopAfterFirstPushes(project, browsers, '--running');
  expect({ code, messages }).toEqual({
    code: 0,
    messages:
      'Stopped. The last push starts within 5 s. Waiting for the counts, for 75 s at most.\n',
  });
  const [stopped] = result.notifications;
  const delivered = received(browsers);
  expect(result).toEqual({ projectId, notifications: [expect.anything()] });
  expect(stopped).toMatchObject({
    ...{ status: 'stopped', attempted: delivered, delivered, unreached: 100 - delivered },
    ...{ removed: 0, failed: 0 },
  });
  expect((await sending).body).toMatchObject({ id: stopped.id, delivered, status: 'stopped' });

  // Once more says what became of it.
  const again = await operator.run(['notifications', 'stop', projectId, stopped.id]);
  expect(again.output).toBe(
    `Stopped "Wrong" (${stopped.id}). ${delivered} of 100 subscribers got it. ` +
      'It cannot be taken back. A correction with the tag "offer" replaces it.\n',
  );
  const none = await operator.run(['notifications', 'stop', projectId, '--running']);
  expect(none).toMatchObject({ code: 0, output: expect.stringMatching(/is sending nothing\./) });
});

test('what push services called gone is in the list and with the project, by push service', async () => {
  const { project, browsers } = await projectWithBrowsers(3);
  browsers[0]!.unsubscribe();
  await operator.service.send(project, { title: 'T' });
  const gone = `Sent: 2 of 3 delivered. Gone: 1 removed (${new URL(browsers[0]!.endpoint).origin} 1).`;
  for (const command of [['notifications', 'list'], ['show']]) {
    const { output } = await operator.run([...command, project.projectId]);
    expect(output).toContain(gone);
  }
});

test('what runs is listed, and a dry run stops nothing', async () => {
  const { project, browsers } = await projectWithBrowsers(40);
  const { projectId } = project;
  const headers = { prefer: 'respond-async' };
  const sent = await operator.service.send(project, { title: 'Right' }, headers);
  const { id } = sent.body;
  const { result } = await stopAfterFirstPushes(project, browsers, '--running', '--dry-run');
  expect(result).toMatchObject({ dryRun: true, notifications: [{ id, status: 'sending' }] });
  const listed = await operator.run(['notifications', 'list', projectId]);
  expect(listed.output).toMatch(
    new RegExp(`${id} .* everyone .* Sending: \\d+ delivered so far\\. .*Right`),
  );
  const everywhere = await operator.run(['notifications', 'list']);
  expect(everywhere.output).toMatch(new RegExp(`^${projectId} +${id} `, 'm'));
  expect(everywhere.output).toContain(`notifications stop ${projectId} --running --local\n`);
  await until('all have it', () => received(browsers) === browsers.length);
  const [ended] = await until('it has ended', async () => {
    const list = await runJson(['notifications', 'list', projectId]);
    return list.result[0].status === 'sent' ? list.result : undefined;
  });
  expect(ended).toMatchObject({ id, delivered: 40, title: 'Right' });
});

test('a function that died is seen, and its notification can be stopped', async () => {
  const { project } = await projectWithBrowsers(1);
  const { projectId } = project;
  const { body } = await operator.service.send(project, { title: 'T' });
  const { dynamodb } = operator.service.stack;
  // As the asynchronous send of a function that died a minute ago, less a second.
  const at = Date.now() - sliceTimeline.leaseMs + 1000;
  const reopened: readonly (readonly [string, object, string, Record<string, unknown>])[] = [
    [
      dynamodb.tables.DELIVERIES_TABLE,
      { id: sliceId(body.id, 0) },
      'SET leasedUntil = :until REMOVE ended',
      { ':until': at + sliceTimeline.leaseMs },
    ],
    [
      dynamodb.tables.NOTIFICATIONS_TABLE,
      { projectRef: project.ref, notificationId: body.id },
      'SET respondedAsync = :async',
      { ':async': true },
    ],
  ];
  for (const [TableName, Key, UpdateExpression, ExpressionAttributeValues] of reopened) {
    await operator.service.dynamo.send(
      new UpdateCommand({ TableName, Key, UpdateExpression, ExpressionAttributeValues }),
    );
  }
  const { result } = await runJson(['notifications', 'list', projectId]);
  expect(result).toMatchObject([{ status: 'sending', noNewsSince: new Date(at).toISOString() }]);
  const text = await operator.run(['notifications', 'list', projectId]);
  expect(text.output).toContain(
    `No news since ${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC.`,
  );
  const stopped = await runJson(['notifications', 'stop', projectId, body.id]);
  expect(stopped.result.notifications).toMatchObject([{ status: 'stopped', delivered: 1 }]);
});

test('a paused project sends nothing with any key, what ran is stopped, and it can be resumed', async () => {
  const { project, browsers } = await projectWithBrowsers(60);
  const { projectId } = project;
  const invited = await runJson(['invite', projectId, 'Ann', '--role', 'sender']);
  const asMember = { ...project, secretKey: invited.result.key };
  const key = { 'idempotency-key': 'order-1' };
  const [toUsers, keyOfUsers] = [{ title: 'T', userIds: ['ann'] }, { 'idempotency-key': 'ann-1' }];
  const before = await operator.service.send(project, toUsers, keyOfUsers);
  const sending = operator.service.send(project, { title: 'Wrong' }, key);
  await until('some pushes arrive', () => received(browsers) >= 3);
  const paused = await runJson(['pause', projectId]);
  const delivered = received(browsers);
  expect(paused.result).toMatchObject({
    projectId,
    pausedAt: expect.any(String),
    notifications: [{ status: 'stopped', delivered }],
  });

  const refused = { status: 403, body: { error: { code: 'project_paused' } } };
  for (const sender of [project, asMember]) {
    const kinds: Record<string, string>[] = [
      {},
      { prefer: 'respond-async' },
      { 'idempotency-key': 'order-2' },
    ];
    for (const headers of kinds) {
      expect(await operator.service.send(sender, { title: 'T' }, headers)).toMatchObject(refused);
    }
  }
  expect(await operator.service.send(project, toUsers, keyOfUsers)).toMatchObject({
    status: 201,
    body: before.body,
  });
  expect(await operator.service.usage(projectId)).toMatchObject({ sends: 2 });
  const [first, repeated] = [
    await sending,
    await operator.service.send(project, { title: 'Wrong' }, key),
  ];
  expect(first).toMatchObject({ status: 201, body: { status: 'stopped', delivered } });
  expect({ status: repeated.status, body: repeated.body }).toEqual({
    status: 201,
    body: first.body,
  });
  expect(received(browsers)).toBe(delivered);
  const shown = await operator.run(['show', projectId]);
  expect(shown.output).toMatch(/Paused +since 20/);

  await runJson(['resume', projectId]);
  const next = await operator.service.send(project, { title: 'T', userIds: ['nobody'] });
  expect(next.status).toBe(201);
});

test('a send that was interrupted is stopped, and not continued, while its project is paused', async () => {
  const { project, browsers } = await projectWithBrowsers(1);
  const key = { 'idempotency-key': 'order-1' };
  const { body } = await operator.service.send(project, { title: 'T' }, key);
  const { dynamo, stack } = operator.service;
  const { DELIVERIES_TABLE, NOTIFICATIONS_TABLE } = stack.dynamodb.tables;
  // As if the request had died before its first push.
  const slice = { TableName: DELIVERIES_TABLE, Key: { id: sliceId(body.id, 0) } };
  await dynamo.send(new DeleteCommand(slice));
  const { Items = [] } = await dynamo.send(new ScanCommand({ TableName: NOTIFICATIONS_TABLE }));
  const item = Items.find(({ projectRef, ownedAt }) => projectRef === project.ref && ownedAt);
  const { projectRef, notificationId } = item!;
  await dynamo.send(
    new UpdateCommand({
      TableName: NOTIFICATIONS_TABLE,
      Key: { projectRef, notificationId },
      UpdateExpression: 'SET ownedAt = :past',
      ExpressionAttributeValues: { ':past': 1 },
    }),
  );
  await runJson(['pause', project.projectId]);
  const repeated = await operator.service.send(project, { title: 'T' }, key);
  expect(repeated).toMatchObject({
    status: 201,
    body: { id: body.id, status: 'stopped', attempted: 0, unreached: 1 },
  });
  expect(received(browsers)).toBe(1);
});

test.each([
  ['neither an id nor --running', [], 2, /^Name a notification by its id, or use --running\./],
  ['both', ['0199f3c1-6d5e-7b1a-9c53-0a4f6d2e8b71', '--running'], 2, /^Name a notification/],
  ['no UUID', ['latest'], 2, /It is a UUID, as the command notifications list prints it\./],
  ['an unknown id', ['0199f3c1-6d5e-7b1a-9c53-0a4f6d2e8b71'], 1, /has no notification/],
])('stop refuses %s', async (_, args, code, message) => {
  const { projectId } = await operator.service.createProject();
  const stopped = await operator.run(['notifications', 'stop', projectId, ...args]);
  expect(stopped).toMatchObject({ code, messages: expect.stringMatching(message) });
});

describe('notifications delete', () => {
  const send = { title: 'Your test result, Ada', userIds: ['ada'] };
  const key = { 'idempotency-key': 'result-of-ada' };

  test('deletes content and counts, and a repetition with the same key is never sent again', async () => {
    const { service } = operator;
    const project = await service.createProject();
    const { projectId } = project;
    const browser = await service.subscribe(project, 'ada');
    const { id } = (await service.send(project, send, key)).body;
    await browser.show();
    const remove = ['notifications', 'delete', projectId, id];
    const { code, output } = await operator.run([...remove, '--yes']);
    expect({ code, output }).toEqual({
      code: 0,
      output:
        `Deleted "Your test result, Ada" (${id}). The recovery of the tables keeps it for up to 35 days; ` +
        'nobody can delete it there.\n',
    });

    const { NOTIFICATIONS_TABLE, DELIVERIES_TABLE } = service.stack.dynamodb.tables;
    const items = await Promise.all(
      [NOTIFICATIONS_TABLE, DELIVERIES_TABLE].map((table) => readTable(service.dynamo, table)),
    );
    const left = items.flat().filter((item) => Object.values(item).join(' ').includes(id));
    const expiresAt = expect.any(Number);
    expect(left.filter(({ sendId }) => sendId === undefined)).toEqual([
      { projectRef: project.ref, notificationId: id, deleted: true, expiresAt },
      { id: `${id}/0`, ended: 'cancelled', expiresAt },
    ]);
    const repeated = await service.send(project, send, key);
    expect(repeated).toMatchObject({
      status: 410,
      body: { error: { code: 'notification_deleted' } },
    });
    expect(browser.messages).toHaveLength(1);
    const read = await callWithValidRequest(service, project, 'getNotification', {
      parameters: { projectId, notificationId: id },
    });
    expect(read).toMatchObject({
      status: 404,
      body: { error: { message: 'This project has no notification with this id.' } },
    });
    const late = await callWithValidRequest(service, project, 'track', {
      parameters: { projectId, notificationId: id },
    });
    expect(late.status).toBe(404);
    const { messages } = await operator.run([...remove, '--yes']);
    expect(messages).toContain('has no notification with this id');
  });

  test('refuses a notification that a function may work on, until it is stopped', async () => {
    const { project, browsers } = await projectWithBrowsers(100);
    const { projectId } = project;
    const sending = operator.service.send(project, { title: 'Wrong' });
    await until('some pushes arrive', () => received(browsers) >= 3);
    const { result } = await runJson(['notifications', 'list', projectId]);
    const [{ id }] = result;
    const remove = ['notifications', 'delete', projectId, id, '--yes'];
    const refused = await operator.run(remove);
    expect(refused).toMatchObject({ code: 1, messages: expect.stringMatching(/Stop it first: /) });
    await runJson(['notifications', 'stop', projectId, id]);
    expect((await sending).status).toBe(201);
    expect(await operator.run(remove)).toMatchObject({ code: 0 });
  });
});
