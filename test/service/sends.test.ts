import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { acceptedSendSchema, type NotificationResult } from '../../contract/wire/notification.ts';
import { endpointHash, type SubscriptionItem, subscriptionKey } from '../../lambdas/store/items.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { HeldSends } from '../fixtures/held-sends.ts';
import { readTable } from '../fixtures/read-table.ts';
import { type ProjectCredentials, useService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

let project: ProjectCredentials;
const sends = new HeldSends();

const service = useService({ onDynamoDbCall: sends.onDynamoDbCall });
beforeEach(async () => {
  project = await service.createProject({ subscriberCap: null });
});

/** Sends with these headers, also such that a send does not accept. */
function send(body: object, headers: Record<string, string> = { prefer: 'respond-async' }) {
  return callWithValidRequest(service, project, 'send', { headers, body });
}

function read(notificationId: string) {
  const options = { parameters: { notificationId } };
  return callWithValidRequest<NotificationResult>(service, project, 'getNotification', options);
}

async function readDelivered(id: string): Promise<NotificationResult> {
  return until('the notification is delivered', async () => {
    const { body } = await read(id);
    return body.status === 'sending' ? undefined : body;
  });
}

test('a caller that does not wait gets the id, and reads the counts later', async () => {
  const browsers = await Promise.all([1, 2, 3].map(() => service.subscribe(project)));
  browsers[0]!.unsubscribe();
  browsers[1]!.behave({ status: 403 });
  const { status, headers, body } = await send({ title: 'Doors open', body: 'At eight.' });
  const { id } = acceptedSendSchema.parse(body);
  expect(status).toBe(202);
  expect(body).toEqual({ id, status: 'sending' });
  expect(headers.get('preference-applied')).toBe('respond-async');
  const path = `/api/v1/projects/${project.projectId}/notifications/${id}`;
  expect(headers.get('location')).toBe(service.stack.baseUrl + path);
  const delivered = await readDelivered(id);
  expect(delivered).toEqual({
    id,
    title: 'Doors open',
    body: 'At eight.',
    audience: 'everyone',
    status: 'sent',
    sentAt: expect.stringMatching(/^20\d\d-.*Z$/),
    attempted: 3,
    delivered: 1,
    removed: 1,
    failed: 1,
    failures: { vapid_refused: 1 },
    shown: 0,
    clicked: 0,
  });
  expect(browsers[2]!.messages).toHaveLength(1);
});

test('a repeated request is answered in the form of the first one, and sends nothing', async () => {
  const browser = await service.subscribe(project);
  const key = { 'idempotency-key': 'order-1' };
  const { id } = acceptedSendSchema.parse(
    (await send({ title: 'T' }, { ...key, prefer: 'respond-async' })).body,
  );
  await readDelivered(id);
  const repeated = await send({ title: 'T' }, { ...key, prefer: 'wait=10' });
  expect(repeated).toMatchObject({ status: 202, body: { id, status: 'sent' } });
  const synchronous = { ...key, 'idempotency-key': 'order-2', prefer: '' };
  const first = await send({ title: 'T' }, synchronous);
  const second = await send({ title: 'T' }, { ...synchronous, prefer: 'respond-async' });
  expect(first.status).toBe(201);
  expect(second).toMatchObject({ status: 201, body: first.body });
  expect(browser.messages).toHaveLength(2);
});

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const tableName = () => service.stack.dynamodb.tables.SUBSCRIPTIONS_TABLE;

/** Makes the browser's last subscribe request this many milliseconds older. */
async function age({ endpoint }: SimulatedBrowser, ms: number) {
  await service.dynamo.send(
    new UpdateCommand({
      TableName: tableName(),
      Key: subscriptionKey(project.ref, endpointHash(project, endpoint)),
      UpdateExpression: 'SET updatedAt = updatedAt - :ms',
      ExpressionAttributeValues: { ':ms': ms },
    }),
  );
}

const audienceOf = async (id: string) => (await read(id)).body.audience;

const received = (browsers: readonly SimulatedBrowser[]) =>
  browsers.map(({ messages }) => messages.length);

test('a send to channels reaches only the browsers that have any of them, each once', async () => {
  const browsers = [
    await service.subscribe(project, undefined, ['news']),
    await service.subscribe(project, 'ada', ['news', 'sales']),
    await service.subscribe(project, 'bob', ['sales', 'sales']),
    await service.subscribe(project, 'ada', ['other']),
    await service.subscribe(project, 'ada'),
  ];
  const toChannels = { title: 'T', channels: ['sales', 'news', 'sales'] };
  const { body } = await service.send(project, toChannels);
  expect(body).toEqual({ id: body.id, attempted: 3, delivered: 3, removed: 0, failed: 0 });
  expect(received(browsers)).toEqual([1, 1, 1, 0, 0]);
  expect(await audienceOf(body.id)).toEqual({ channels: ['sales', 'news'] });

  const targeted = await service.send(project, { ...toChannels, userIds: ['ada', 'eve'] });
  expect(targeted.body).toMatchObject({ attempted: 1, delivered: 1 });
  expect(received(browsers)).toEqual([1, 2, 1, 0, 0]);
  expect(await audienceOf(targeted.body.id)).toEqual({ users: 2, channels: ['sales', 'news'] });

  const recipients = [{ userId: 'ada' }, { userId: 'bob' }];
  const personal = await service.send(project, { ...toChannels, recipients });
  expect(personal.body).toMatchObject({ attempted: 2, delivered: 2 });
  expect(received(browsers)).toEqual([1, 3, 2, 0, 0]);
});

test('a send to those seen within days leaves out whose last subscribe request is older, plus a day', async () => {
  const browsers = [
    await service.subscribe(project),
    await service.subscribe(project, 'ada'),
    await service.subscribe(project, 'ada'),
    await service.subscribe(project, 'ada', ['news']),
  ];
  const [, recent, old, oldWithChannel] = browsers;
  await age(recent!, 8 * dayMs - minuteMs);
  await age(old!, 8 * dayMs);
  await age(oldWithChannel!, 400 * dayMs);
  const { body } = await service.send(project, { title: 'T', seenWithinDays: 7 });
  expect(body).toEqual({ id: body.id, attempted: 2, delivered: 2, removed: 0, failed: 0 });
  expect(received(browsers)).toEqual([1, 1, 0, 0]);
  expect(await audienceOf(body.id)).toEqual({ seenWithinDays: 7 });

  const both = { title: 'T', seenWithinDays: 365, channels: ['news'] };
  expect((await service.send(project, both)).body).toMatchObject({ attempted: 0 });
  const targeted = await service.send(project, { ...both, seenWithinDays: 7, userIds: ['ada'] });
  expect(targeted.body).toMatchObject({ attempted: 0 });
  expect(await audienceOf(targeted.body.id)).toEqual({
    users: 1,
    channels: ['news'],
    seenWithinDays: 7,
  });
});

test('a subscribe request makes a browser seen again, and states all of its channels', async () => {
  const browser = await service.subscribe(project, undefined, ['news', 'sales']);
  await age(browser, 400 * dayMs);
  const attempted = async (conditions: object) =>
    (await service.send(project, { title: 'T', ...conditions })).body.attempted;
  expect(await attempted({ seenWithinDays: 365 })).toBe(0);
  const subscribe = (channels: unknown) =>
    callWithValidRequest(service, project, 'subscribe', {
      body: { ...browser.toJSON(), channels },
    });
  expect(await subscribe(null)).toMatchObject({ status: 400 });
  expect(await attempted({ seenWithinDays: 365 })).toBe(0);
  expect(await attempted({ channels: ['news'] })).toBe(1);
  expect(await subscribe(['sales'])).toMatchObject({ status: 201 });
  expect(await attempted({ seenWithinDays: 1 })).toBe(1);
  expect(await attempted({ channels: ['news'] })).toBe(0);
  await subscribe(undefined);
  expect(await attempted({ channels: ['sales'] })).toBe(0);
  const stored = await readTable(service.dynamo, tableName());
  const own = (stored as unknown as SubscriptionItem[]).filter(({ projectPart }) =>
    projectPart.startsWith(`${project.ref}#`),
  );
  expect(own).toEqual([expect.not.objectContaining({ channels: expect.anything() })]);
});

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
  expect((await read(body.id)).body).toMatchObject({ audience: { users: 5 }, usersReached: 2 });
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
  expect((await read(toDot.body.id)).body).toMatchObject({ usersReached: 1 });
  const gone = await service.subscribe(project);
  gone.unsubscribe();
  const toAll = await service.send(project, { title: 'T' });
  expect(toAll.body).not.toHaveProperty('usersNotReached');
  expect((await read(toAll.body.id)).body).not.toHaveProperty('usersReached');
});

test('an asynchronous send has only the number, over all functions', async () => {
  const many = Array.from({ length: 600 }, (_, index) => `u${index}`);
  const browsers = await Promise.all(
    [0, 7, 8, 199, 200, 599].map((index) => service.subscribe(project, `u${index}`)),
  );
  const headers = { prefer: 'respond-async', 'idempotency-key': 'async' };
  const { body } = await service.send(project, { title: 'T', userIds: many }, headers);
  const { id } = acceptedSendSchema.parse(body);
  const reached = { audience: { users: 600 }, delivered: 6, usersReached: 6 };
  expect(await readDelivered(id)).toMatchObject(reached);
  expect(received(browsers)).toEqual(browsers.map(() => 1));
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
  const body = { ...passing.toJSON(), userId: 'bob' };
  await callWithValidRequest(service, project, 'subscribe', { body });
  const { body: sent } = await sending;
  expect(sent).toMatchObject({ attempted: 2, delivered: 1, failed: 1, failures: { throttled: 1 } });
  expect(passing.messages).toEqual([]);
  expect(staying.messages).toHaveLength(1);
});

test('a repeated send returns the first response and sends nothing', async () => {
  const browser = await service.subscribe(project);
  const first = await send({ title: 'T' }, { 'idempotency-key': 'order-1' });
  const second = await send({ title: 'T' }, { 'idempotency-key': 'order-1' });
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.body).toEqual(first.body);
  expect(browser.messages).toHaveLength(1);
  expect(await service.usage(project.projectId)).toMatchObject({ sends: 1 });
});

test('a key with a different body is refused', async () => {
  await send({ title: 'T' }, { 'idempotency-key': 'order-1' });
  const { status, body } = await send({ title: 'U' }, { 'idempotency-key': 'order-1' });
  expect({ status, code: body.error.code }).toEqual({
    status: 422,
    code: 'idempotency_key_reused',
  });
});

test('a repeated send is refused with Retry-After while the first is in progress', async () => {
  const browser = await service.subscribe(project);
  const release = sends.hold();
  const first = send({ title: 'T' }, { 'idempotency-key': 'order-1' });
  await browser.nextMessage();
  const { status, headers, body } = await send({ title: 'T' }, { 'idempotency-key': 'order-1' });
  expect({ status, code: body.error.code }).toEqual({ status: 409, code: 'request_in_progress' });
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  release();
  expect((await first).status).toBe(201);
});

test.each([
  ['', ''],
  ['two words', ''],
  ['ü', ''],
  ['x'.repeat(256), ', and has 256'],
])('the key "%s" is refused', async (key, more) => {
  const { status, body } = await send({ title: 'T' }, { 'idempotency-key': key });
  expect(status).toBe(400);
  expect(body.error.issues).toEqual([
    {
      path: 'Idempotency-Key',
      message: `must be 1 to 255 printable ASCII characters without spaces${more}`,
    },
  ]);
});
