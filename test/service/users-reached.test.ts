import { routes } from '../../contract/routes.ts';
import {
  acceptedSendSchema,
  type NotificationResult,
} from '../../contract/schemas/notification.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

let service: Service;
let project: ProjectCredentials;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  project = await service.createProject({ subscriberCap: null });
});
afterAll(() => service.stop());

async function read(notificationId: string): Promise<NotificationResult> {
  const { projectId, secretKey } = project;
  const { body } = await service.call<NotificationResult>(routes.getNotification, {
    parameters: { projectId, notificationId },
    headers: { authorization: `Bearer ${secretKey}` },
  });
  return body;
}

/** Ada has two browsers, of which one refuses. Bob's refuses, Cem's is gone, Dot's is well. Eve has none. */
async function subscribeAll(): Promise<void> {
  for (const [userId, status] of [
    ['ada', 403],
    ['ada', 201],
    ['bob', 403],
    ['cem', 410],
    ['dot', 201],
  ] as const) {
    const browser = await service.subscribe(project, userId);
    if (status !== 201) browser.behave({ status });
  }
}

const userIds = ['eve', 'dot', 'cem', 'ada', 'bob', 'eve'];
const usersNotReached = ['eve', 'cem', 'bob'];

test('a send names the users to whom no push was delivered, in the order of the request', async () => {
  await subscribeAll();
  const key = { 'idempotency-key': 'to-users' };
  const { status, body } = await service.send(project, { title: 'T', userIds }, key);
  expect(status).toBe(201);
  expect(body).toMatchObject({
    attempted: 5,
    delivered: 2,
    removed: 1,
    failed: 2,
    usersNotReached,
  });
  const repeated = await service.send(project, { title: 'T', userIds }, key);
  expect(repeated.body).toEqual(body);
  expect(await read(body.id)).toMatchObject({ audience: { users: 5 }, usersReached: 2 });
});

test('and so does one to recipients', async () => {
  await subscribeAll();
  const recipients = [...new Set(userIds)].map((userId) => ({ userId, values: { userId } }));
  const { body } = await service.send(project, { title: 'Hello {{userId}}', recipients });
  expect(body.usersNotReached).toEqual(usersNotReached);
});

test('nobody is named if everyone was reached, nor for a broadcast', async () => {
  await service.subscribe(project, 'dot');
  const toDot = await service.send(project, { title: 'T', userIds: ['dot'] });
  expect(toDot.body).not.toHaveProperty('usersNotReached');
  expect(await read(toDot.body.id)).toMatchObject({ usersReached: 1 });
  const gone = await service.subscribe(project);
  gone.unsubscribe();
  const toAll = await service.send(project, { title: 'T' });
  expect(toAll.body).not.toHaveProperty('usersNotReached');
  expect(await read(toAll.body.id)).not.toHaveProperty('usersReached');
});

test('an asynchronous send has only the number, over all functions', async () => {
  const many = Array.from({ length: 600 }, (_, index) => `u${index}`);
  for (const index of [0, 7, 8, 199, 200, 599]) await service.subscribe(project, `u${index}`);
  const headers = { prefer: 'respond-async', 'idempotency-key': 'async' };
  const { body } = await service.send(project, { title: 'T', userIds: many }, headers);
  const { id } = acceptedSendSchema.parse(body);
  const notification = await until('the notification is delivered', async () => {
    const now = await read(id);
    return now.status === 'sent' ? now : undefined;
  });
  expect(notification).toMatchObject({ delivered: 6, usersReached: 6 });
  const repeated = await service.send(project, { title: 'T', userIds: many }, headers);
  expect(repeated.body).toEqual({ id, status: 'sent' });
});

test.each([
  [
    'recipients',
    { title: 'Code {{code}}', recipients: [{ userId: 'ada', values: { code: '1' } }] },
  ],
  ['userIds', { title: 'Your code is 1', userIds: ['ada'] }],
])('a text for a user, by %s, does not reach the next user of a browser', async (_, request) => {
  const { pushService } = service.stack;
  const [passing, staying] = [
    await service.subscribe(project, 'ada'),
    await service.subscribe(project, 'ada'),
  ];
  const throttled = { status: 429, headers: { 'retry-after': '3' }, times: 1 };
  for (const browser of [passing, staying]) browser.behave(throttled);
  const refused = () => pushService.stats().responses[429] ?? 0;
  const before = refused();
  const sending = service.send(project, request);
  await until('the first attempts', () => refused() === before + 2);
  // Bob logs in on the same browser while the push service holds its message up.
  await service.call(routes.subscribe, {
    parameters: { projectId: project.projectId },
    body: { ...passing.toJSON(), userId: 'bob' },
  });
  const { body } = await sending;
  expect(body).toMatchObject({ attempted: 2, delivered: 1, failed: 1, failures: { throttled: 1 } });
  expect(passing.messages).toEqual([]);
  expect(staying.messages).toHaveLength(1);
});
