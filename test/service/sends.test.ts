import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDbHook } from 'aws-emulator/dynamodb-proxy';
import { createBrowserKeys } from '../../admin/browser.ts';
import { pushMessage } from '../../contract/wire/message.ts';
import {
  acceptedSendSchema,
  type NotificationList,
  type NotificationResult,
} from '../../contract/wire/notification.ts';
import type { ProjectResult } from '../../contract/wire/project-result.ts';
import { routes } from '../../contract/wire/routes.ts';
import { sampleContent } from '../../contract/wire/send-fields.ts';
import {
  endpointHash,
  eventCounterId,
  type SubscriptionItem,
  sliceId,
  subscriptionKey,
} from '../../lambdas/store/items.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { readTable } from '../fixtures/read-table.ts';
import { type ProjectCredentials, useService } from '../fixtures/service.ts';
import { storeSubscribers } from '../fixtures/stored-subscribers.ts';
import { until } from '../fixtures/until.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

/** Holds sends after their pushes: before the write of a slice's end, and so before their response. */
class HeldSends {
  #released: Promise<void> = Promise.resolve();

  readonly onDynamoDbCall: DynamoDbHook = async ({ caller, operation, parameters }) => {
    const values = Object.values(
      Object(parameters.ExpressionAttributeValues) as Record<string, { readonly S?: string }>,
    );
    const writesEnd = operation === 'UpdateItem' && values.some(({ S }) => S === 'delivered');
    if (writesEnd && caller.startsWith('Send')) await this.#released;
    return undefined;
  };

  /** @returns a function that releases the sends. */
  hold(): () => void {
    let release!: () => void;
    this.#released = new Promise((resolve) => {
      release = resolve;
    });
    return release;
  }
}

const sends = new HeldSends();

const service = useService({ onDynamoDbCall: sends.onDynamoDbCall });
let project: ProjectCredentials;
beforeEach(async () => {
  project = await service.createProject({ subscriberCap: null });
});

/** Reads a slice or an event counter. */
async function readDelivery(id: string) {
  const { Item } = await service.dynamo.send(
    new GetCommand({
      TableName: service.stack.dynamodb.tables.DELIVERIES_TABLE,
      Key: { id },
    }),
  );
  return Item;
}

test('a broadcast reaches each browser and returns counts', async () => {
  const browsers = [await service.subscribe(project), await service.subscribe(project, 'ada')];
  const content = {
    title: 'Doors open at eight',
    body: 'Your seat is 14C — bring “it”.',
    url: 'https://example.com/tickets',
    icon: 'https://example.com/icon.png',
    image: 'https://example.com/image.png',
    badge: 'https://example.com/badge.png',
  };
  const { status, body } = await service.send(project, content);
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    ...{ attempted: 2, delivered: 2, removed: 0, failed: 0 },
  });
  const { url, ...shown } = content;
  const events = `${service.stack.baseUrl}/api/v1/projects/${project.projectId}/notifications/${body.id}/events`;
  for (const browser of browsers) {
    const [message] = browser.messages;
    expect(browser.messages).toHaveLength(1);
    expect(JSON.parse(message!.text)).toEqual({
      web_push: 8030,
      notification: {
        ...shown,
        navigate: url,
        data: { carillon: 1, id: body.id, events },
        mutable: true,
      },
      mutable: true,
    });
    expect(message!.headers).toMatchObject({ ttl: '2419200', 'content-encoding': 'aes128gcm' });
  }
});

test('a targeted send reaches only the browsers of its user ids', async () => {
  const ada = await service.subscribe(project, 'ada');
  const adasPhone = await service.subscribe(project, 'ada');
  const bob = await service.subscribe(project, 'bob');
  const withoutUser = await service.subscribe(project);
  const { body } = await service.send(project, { title: 'T', userIds: ['ada', 'ada', 'eve'] });
  expect(body).toMatchObject({ attempted: 2, delivered: 2 });
  const received = [ada, adasPhone, bob, withoutUser].map(({ messages }) => messages.length);
  expect(received).toEqual([1, 1, 0, 0]);
});

test('nobody is lost when a push service says that all are gone, twice within days', async () => {
  const browsers = await Promise.all(Array.from({ length: 60 }, () => service.subscribe(project)));
  const sendWhile = async (isGone: boolean) => {
    for (const browser of browsers) browser.behave(isGone ? { status: 410 } : {});
    return (await service.send(project, { title: 'T' })).body;
  };
  for (let fault = 0; fault < 2; fault += 1) {
    const failures = { gone_unconfirmed: 60 };
    expect(await sendWhile(true)).toMatchObject({ attempted: 60, removed: 0, failures });
    await ageMarks(5);
    expect(await sendWhile(false)).toMatchObject({ attempted: 60, delivered: 60 });
  }
});

test('what a push service says is gone in masses is removed if it says so again a day later', async () => {
  const browsers = await Promise.all(Array.from({ length: 60 }, () => service.subscribe(project)));
  for (const browser of browsers.slice(20)) browser.unsubscribe();
  const first = await service.send(project, { title: 'T' });
  expect(first.body).toMatchObject({ delivered: 20, failures: { gone_unconfirmed: 40 } });
  const soon = await service.send(project, { title: 'T' });
  expect(soon.body).toMatchObject({ removed: 0, failures: { gone_unconfirmed: 40 } });
  await ageMarks(1);
  const { body } = await service.send(project, { title: 'T' });
  expect(body).toMatchObject({ attempted: 60, delivered: 20, removed: 40 });
  const found = (await read(body.id)).body;
  expect(Object.values(found.removals!)).toEqual([40]);
});

/** Makes the marks of subscriptions that were reported as gone some days older. */
async function ageMarks(days: number): Promise<void> {
  const table = service.stack.dynamodb.tables.SUBSCRIPTIONS_TABLE;
  const items = (await readTable(service.dynamo, table)) as unknown as SubscriptionItem[];
  for (const { projectPart, endpointHash, goneSince } of items) {
    if (goneSince === undefined) continue;
    await service.dynamo.send(
      new UpdateCommand({
        TableName: table,
        Key: { projectPart, endpointHash },
        UpdateExpression: 'SET goneSince = :at',
        ExpressionAttributeValues: { ':at': goneSince - days * 24 * 60 * 60_000 },
      }),
    );
  }
}

test('a gone subscription is removed and not attempted again', async () => {
  await service.subscribe(project);
  const gone = await service.subscribe(project);
  gone.unsubscribe();
  const first = await service.send(project, { title: 'T' });
  expect(first.body).toMatchObject({ attempted: 2, delivered: 1, removed: 1, failed: 0 });
  expect(await service.usage(project.projectId)).toMatchObject({ subscribers: 1, sends: 1 });
  const second = await service.send(project, { title: 'T' });
  expect(second.body).toMatchObject({ attempted: 1, delivered: 1, removed: 0, failed: 0 });
});

test('a refused push counts as failed, and its subscription stays', async () => {
  const refused = await service.subscribe(project);
  refused.behave({ status: 403 });
  const { body } = await service.send(project, { title: 'T' });
  expect(body).toMatchObject({ attempted: 1, delivered: 0, removed: 0, failed: 1 });
  expect(await service.usage(project.projectId)).toMatchObject({ subscribers: 1 });
});

test('beacons are counted in an event counter of their notification', async () => {
  const browsers = [await service.subscribe(project), await service.subscribe(project)];
  const { body } = await service.send(project, { title: 'T' });
  for (const browser of browsers) expect((await browser.show()).status).toBe(200);
  expect(await (await browsers[0]!.click()).json()).toEqual({ ok: true });
  expect(await readDelivery(eventCounterId(body.id, 0))).toMatchObject({
    projectRef: project.ref,
    shown: 2,
    clicked: 1,
  });
  expect(await readDelivery(sliceId(body.id, 0))).toMatchObject({
    ...{ attempted: 2, delivered: 2, removed: 0, failed: 0, ended: 'delivered' },
  });
});

test.each([
  ['the send', {}, { events: false }],
  ['the project', { events: false }, {}],
])(
  'events that %s has switched off are null, and no message asks for them',
  async (_, settings, field) => {
    const owner = await service.createProject(settings);
    const browser = await service.subscribe(owner, 'ada');
    const headers = { 'idempotency-key': 'one' };
    const { body } = await service.send(owner, { title: 'T', ...field }, headers);
    const { notification } = JSON.parse((await browser.nextMessage()).text);
    expect(notification.data).toEqual({ carillon: 1, id: body.id });
    expect((await read(body.id, owner)).body).toMatchObject({
      ...{ delivered: 1, events: false, shown: null, clicked: null },
    });
    // A repetition means the same after the setting has changed.
    await service.registry.set(owner.projectId, { events: undefined });
    const repeated = await service.send(owner, { title: 'T', ...field }, headers);
    expect(repeated.body).toMatchObject({ id: body.id });
  },
);

test('late events of a project that has switched events off are taken, and not counted', async () => {
  const owner = await service.createProject();
  const browser = await service.subscribe(owner, 'ada');
  const { body } = await service.send(owner, { title: 'T' });
  expect((await browser.show()).status).toBe(200);
  const off = await service.createProject({ events: false });
  const late = await service.call(routes.track, {
    parameters: { ...off, notificationId: body.id },
    body: { type: 'shown' },
  });
  expect(late).toMatchObject({ status: 200, body: { ok: true } });
  expect((await read(body.id, owner)).body).toMatchObject({ shown: 1, clicked: 0 });
});

test('a beacon is counted before the send has ended', async () => {
  const browser = await service.subscribe(project);
  const release = sends.hold();
  let hasEnded = false;
  const sending = service.send(project, { title: 'T' }).finally(() => {
    hasEnded = true;
  });
  await browser.nextMessage();
  expect((await browser.show()).status).toBe(200);
  expect(hasEnded).toBe(false);
  release();
  const { body } = await sending;
  expect(await readDelivery(eventCounterId(body.id, 0))).toMatchObject({ shown: 1 });
  expect(await readDelivery(sliceId(body.id, 0))).toMatchObject({ delivered: 1 });
});

test('an unsubscribe removes the subscription, and a repeated one returns the same', async () => {
  const browser = await service.subscribe(project);
  const query = `?endpoint=${encodeURIComponent(browser.endpoint)}`;
  for (const _ of ['first', 'repeated']) {
    const { status, body } = await service.call(routes.unsubscribe, {
      parameters: { ...project },
      query,
    });
    expect({ status, body }).toEqual({ status: 200, body: { ok: true } });
  }
  expect(await service.usage(project.projectId)).toMatchObject({ subscribers: 0 });
  const { body } = await service.send(project, { title: 'T' });
  expect(body).toMatchObject({ attempted: 0, delivered: 0, removed: 0, failed: 0 });
});

/** Sends with these headers, also such that a send does not accept. */
function send(body: object, headers: Record<string, string> = { prefer: 'respond-async' }) {
  return callWithValidRequest(service, project, 'send', { headers, body });
}

function read(notificationId: string, owner = project) {
  const options = { parameters: { notificationId } };
  return callWithValidRequest<NotificationResult>(service, owner, 'getNotification', options);
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
    removals: { [new URL(browsers[0]!.endpoint).origin]: 1 },
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

test('a test goes to at most five users, counts against the cap, and is listed as one', async () => {
  const { sends } = await service.usage(project.projectId);
  await service.subscribe(project, 'ada');
  const userIds = ['ada', 'b', 'c', 'd', 'e'];
  const { body } = await service.send(project, { title: 'T', userIds, test: true });
  expect(body).toMatchObject({ delivered: 1 });
  const recipients = [{ userId: 'ada', values: { name: 'Ada' } }];
  const personal = await service.send(project, { title: '{{name}}', recipients, test: true });
  expect(personal.status).toBe(201);
  expect(await service.usage(project.projectId)).toMatchObject({ sends: sends + 2 });
  const { body: list } = await callWithValidRequest<NotificationList>(
    service,
    project,
    'listNotifications',
  );
  expect(list.notifications.slice(0, 2).map(({ test: isTest }) => isTest)).toEqual([true, true]);
  const { body: other } = await service.send(project, { title: 'T', userIds, test: false });
  const { body: found } = await callWithValidRequest(service, project, 'getNotification', {
    parameters: { notificationId: other.id },
  });
  expect(found).not.toHaveProperty('test');
  for (const audience of [{}, { channels: ['news'] }, { userIds: [...userIds, 'f'] }]) {
    const refused = await service.send(project, { title: 'T', ...audience, test: true });
    expect(refused).toMatchObject({ status: 400, body: { error: { issues: [{ path: 'test' }] } } });
  }
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

const deep = JSON.parse(`${'['.repeat(40)}1e300${']'.repeat(40)}`);
const everyOption = { ...sampleContent, data: { match: 7, score: [2, 1], deep } };

test.each([
  ['synchronously', {}, 201],
  ['asynchronously', { prefer: 'respond-async' }, 202],
])('each option reaches the push service and the browser, sent %s', async (_, headers, status) => {
  const browser = await service.subscribe(project);
  const sent = await service.send(project, everyOption, headers);
  expect(sent.status).toBe(status);
  const { headers: pushed, text } = await browser.nextMessage();
  expect(pushed).toMatchObject({ ttl: '3600', urgency: 'high' });
  expect(pushed.topic).toMatch(/^[\w-]{32}$/);
  const { id } = sent.body;
  const events = `${service.stack.baseUrl}/api/v1/projects/${project.projectId}/notifications/${id}/events`;
  const expected = pushMessage(id, everyOption, events);
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(expected)));
});

test('a notification is read as it was sent', async () => {
  const { body } = await service.send(project, everyOption);
  expect((await read(body.id)).body).toMatchObject(everyOption);
});

test('the failures are in the response by reason, also in that of a repeated request', async () => {
  const [refused, throttled] = [await service.subscribe(project), await service.subscribe(project)];
  await service.subscribe(project);
  refused.behave({ status: 403 });
  throttled.behave({ status: 429, headers: { 'retry-after': '60' } });
  const expected = {
    ...{ attempted: 3, delivered: 1, removed: 0, failed: 2 },
    failures: { vapid_refused: 1, throttled: 1 },
  };
  const idempotent = { 'idempotency-key': 'one' };
  const first = await service.send(project, { title: 'T' }, idempotent);
  expect(first.body).toEqual({ id: first.body.id, ...expected });
  const repeated = await service.send(project, { title: 'T' }, idempotent);
  expect(repeated.body).toEqual(first.body);
  expect((await read(first.body.id)).body).toMatchObject(expected);
});

test.each([
  [{}, 201],
  [{ prefer: 'respond-async' }, 202],
])(
  'the size of a message that not every browser receives is in the response, with %j',
  async (headers, status) => {
    const browser = await service.subscribe(project);
    const small = await service.send(project, { title: 'T', body: 'x'.repeat(2000) }, headers);
    expect(small.body).not.toHaveProperty('messageBytes');
    await browser.nextMessage();
    const large = { title: 'T', body: 'x'.repeat(2000), data: { a: 'x'.repeat(800) } };
    const idempotent = { ...headers, 'idempotency-key': `size-${status}` };
    const sent = await service.send(project, large, idempotent);
    expect(sent.status).toBe(status);
    const { text } = await browser.nextMessage();
    expect(sent.body).toHaveProperty('messageBytes', Buffer.byteLength(text));
    expect(Buffer.byteLength(text)).toBeGreaterThan(2820);
    const repeated = await service.send(project, large, idempotent);
    expect(repeated.body).toHaveProperty('messageBytes', Buffer.byteLength(text));
  },
);

const keys = createBrowserKeys();

/** Stores a subscription for each user id without the API, which would take seconds for a thousand. */
async function storeUsers(userIds: readonly string[]): Promise<SimulatedBrowser[]> {
  const { pushService, dynamodb } = service.stack;
  const { applicationServerKey } = project;
  const browsers = userIds.map(() => pushService.subscribe({ applicationServerKey, keys }));
  const subscribers = browsers.map((browser, index) => ({
    toJSON: () => browser.toJSON(),
    userId: userIds[index]!,
  }));
  await storeSubscribers(service.dynamo, dynamodb.tables, project, subscribers);
  return browsers;
}

const template = {
  title: 'Hello {{name}}',
  body: 'Order {{order}} of {{ name }} is on its way.',
  url: 'https://example.com/orders/{{order}}?for={{name}}',
};

const recipientsOf = (userIds: readonly string[]) =>
  userIds.map((userId, index) => ({
    userId,
    values: { name: `Name of ${userId} 💌`, order: `order/${index}`, unused: [index] },
  }));

function expectOwnText(browsers: readonly SimulatedBrowser[], userIds: readonly string[]): void {
  for (const [index, { messages }] of browsers.entries()) {
    const name = `Name of ${userIds[index]} 💌`;
    expect(messages).toHaveLength(1);
    expect(JSON.parse(messages[0]!.text).notification).toMatchObject({
      title: `Hello ${name}`,
      body: `Order order/${index} of ${name} is on its way.`,
      navigate: `https://example.com/orders/order%2F${index}?for=${encodeURIComponent(name)}`,
    });
  }
}

test('1,000 users get 1,000 different texts with one request', async () => {
  const userIds = Array.from({ length: 1000 }, (_, index) => `user-${index}`);
  const browsers = await storeUsers(userIds);
  const { status, body } = await service.send(project, {
    ...template,
    recipients: recipientsOf(userIds),
  });
  expect({ status, body }).toMatchObject({
    status: 201,
    body: { attempted: 1000, delivered: 1000 },
  });
  expectOwnText(browsers, userIds);
  expect(new Set(browsers.map(({ messages }) => messages[0]!.text)).size).toBe(1000);
  expect(await service.usage(project.projectId)).toMatchObject({ sends: 1 });
});

test('all devices of a user get its text, and nobody else does', async () => {
  const ids = ['ada', 'bob', 'ada', 'eve'];
  const [phone, bob, laptop, eve] = await storeUsers(ids);
  const recipients = recipientsOf(['bob', 'ada', 'nobody']);
  await service.send(project, { ...template, recipients });
  expectOwnText([bob!, phone!], ['bob', 'ada']);
  expect(laptop!.messages).toHaveLength(1);
  expect(JSON.parse(laptop!.messages[0]!.text)).toEqual(JSON.parse(phone!.messages[0]!.text));
  expect(eve!.messages).toEqual([]);
});

test('each recipient gets its own number, 0 too, or that of the notification', async () => {
  const browsers = await storeUsers(['ada', 'bob', 'eve']);
  const recipients = [
    { userId: 'ada', appBadge: 3 },
    { userId: 'bob', appBadge: 0 },
  ];
  const key = { 'idempotency-key': 'numbers' };
  const request = { title: 'News', appBadge: 9, recipients: [...recipients, { userId: 'eve' }] };
  expect((await service.send(project, request, key)).status).toBe(201);
  const shown = browsers.map(({ messages }) => JSON.parse(messages[0]!.text));
  expect(shown.map(({ app_badge }) => app_badge)).toEqual([3, 0, 9]);
  expect(shown.map(({ notification }) => notification.app_badge)).toEqual([3, 0, 9]);
  const other = { ...request, recipients: [{ userId: 'ada', appBadge: 4 }] };
  const repeated = await service.send(project, other, key);
  expect(repeated.body).toMatchObject({ error: { code: 'idempotency_key_reused' } });
});

describe('languages', () => {
  const languages = ['de-CH', 'zh-TW', 'fr', undefined];
  const translations = {
    DE: { title: 'Hallo {{name}}', url: 'https://example.com/de' },
    'zh-Hant': { title: '{{name}}，你好', body: '訂單' },
  };
  let browsers: readonly SimulatedBrowser[];

  beforeEach(async () => {
    browsers = await storeUsers(languages.map((_, index) => `user-${index}`));
    await Promise.all(
      languages.map(async (locale, index) => {
        const body = { ...browsers[index]!.toJSON(), userId: `user-${index}`, locale };
        const { status } = await callWithValidRequest(service, project, 'subscribe', { body });
        expect(status).toBe(201);
      }),
    );
  });

  const shown = () =>
    browsers.map(({ messages }) => {
      const { title, body, lang } = JSON.parse(
        messages[0]?.text ?? '{"notification":{}}',
      ).notification;
      return [title, body, lang];
    });

  test('each reader gets a translation, with its own values, or else the notification', async () => {
    const recipients = languages.map((_, index) => ({
      userId: `user-${index}`,
      values: { name: `N${index}` },
    }));
    const request = { title: 'Hello {{name}}', body: 'Order', translations, recipients };
    expect((await service.send(project, request)).status).toBe(201);
    expect(shown()).toEqual([
      ['Hallo N0', 'Order', 'de'],
      ['N1，你好', '訂單', 'zh-Hant'],
      ['Hello N2', 'Order', undefined],
      ['Hello N3', 'Order', undefined],
    ]);
  });

  test('a broadcast reaches the languages of its condition, and stores its translations', async () => {
    const request = {
      title: 'Hello',
      translations: { de: { title: 'Hallo' } },
      locales: ['DE', 'fr'],
    };
    const { body } = await service.send(project, request);
    expect(body).toMatchObject({ attempted: 2, delivered: 2 });
    expect(shown().map(([title]) => title)).toEqual(['Hallo', undefined, 'Hello', undefined]);
    const { body: stored } = await read(body.id);
    expect(stored).toMatchObject({
      translations: { de: { title: 'Hallo' } },
      audience: { locales: ['de', 'fr'] },
    });
  });

  test('the sample counts what a condition selects', async () => {
    const { body } = await callWithValidRequest<ProjectResult>(service, project, 'getProject', {
      query: '?sample=subscribers',
    });
    const { locales } = body.sample!;
    expect(locales).toEqual({
      ...{ de: 1, 'de-CH': 1, fr: 1 },
      ...{ zh: 1, 'zh-Hant': 1, 'zh-Hant-TW': 1 },
    });
  });

  test.each([
    ['title', { de: { title: '{{name}}' } }, 'translations.de.title'],
    ['tag', { de: { tag: 'x' } }, 'translations.de.tag'],
    ['language', { de: {}, DE: {} }, 'translations.DE'],
    ['tag of a language', { en_US: {} }, 'translations.en_US'],
    ['bound', { de: { title: 'x'.repeat(257) } }, 'translations.de.title'],
  ])('a wrong %s of a translation is refused', async (_, wrong, path) => {
    const request = { title: 'Hello', translations: wrong };
    const { status, body } = await callWithValidRequest(service, project, 'send', {
      body: request,
    });
    expect({ status, issues: body.error.issues }).toMatchObject({
      status: 400,
      issues: [{ path }],
    });
  });

  test('a translation that is too large is named, and nobody gets anything', async () => {
    const request = { title: 'Hello', translations: { de: { body: '💣'.repeat(1000) } } };
    const { status, body } = await callWithValidRequest(service, project, 'send', {
      body: request,
    });
    expect(status).toBe(413);
    expect(body.error.message).toMatch(/^The notification in "de" is \d+ bytes too large/);
    expect(shown().map(([title]) => title)).toEqual([undefined, undefined, undefined, undefined]);
  });
});

test('a message that is too large for one recipient is refused for all, and names the entry', async () => {
  const [browser] = await storeUsers(['ada']);
  const recipients = ['ada', 'bob', 'eve'].map((userId) => ({
    userId,
    values: { v: '💣'.repeat(userId === 'bob' ? 400 : 1) },
  }));
  const { status, body } = await callWithValidRequest(service, project, 'send', {
    body: { title: 'T', body: '{{v}}{{v}}{{v}}', recipients },
  });
  expect({ status, body }).toMatchObject({
    status: 413,
    body: { error: { code: 'payload_too_large' } },
  });
  expect(body.error.message).toMatch(
    /^The notification for recipients\[1\] is \d+ bytes too large for one push message/,
  );
  expect(browser!.messages).toEqual([]);
  expect(await service.usage(project.projectId)).toMatchObject({ sends: 0 });
});

test('an unused value may be nested as deeply as a body can be', async () => {
  const depth = 200_000;
  const nested = `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const body = `{"title":"T {{v}}","recipients":[{"userId":"ada","values":{"v":"x","other":${nested}}}]}`;
  const headers = { 'idempotency-key': 'a-deep-request' };
  const { status } = await callWithValidRequest(service, project, 'send', { headers, body });
  expect(status).toBe(201);
});
