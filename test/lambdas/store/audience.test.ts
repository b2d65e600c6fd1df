import type { Recipient } from '../../../contract/audience.ts';
import { audienceStore, type Conditions, seenSince } from '../../../lambdas/store/audience.ts';
import {
  endpointHash,
  partCount,
  positionCount,
} from '../../../lambdas/store/subscription-keys.ts';
import { subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { clientWith } from '../../fixtures/client-with.ts';
import { connect, type Database, startDatabase } from '../../fixtures/database.ts';
import { endpoint, subscription } from '../../fixtures/subscription.ts';

let database: Database;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());

const all = { from: 0, to: positionCount };
const options = { limit: 30_000, consistent: true };

const audiences = () => audienceStore(database.dynamo, database.tables.SUBSCRIPTIONS_TABLE);

async function subscribe(projectId: string, userIds: readonly (string | undefined)[]) {
  const { SUBSCRIPTIONS_TABLE: subscriptions, USAGE_TABLE: usage } = database.tables;
  const store = subscriptionStore(database.dynamo, { subscriptions, usage }, () => new Date());
  const created = userIds.map((userId) => subscription({ userId }));
  await Promise.all(created.map((one) => store.save(projectId, one, null)));
  return created;
}

function endpointsOf(recipients: readonly Recipient[]): string[] {
  return recipients.map(({ origin, path }) => origin + path).sort();
}

function hrefs(subscriptions: readonly { endpoint: { href: string } }[]): string[] {
  return subscriptions.map(({ endpoint }) => endpoint.href).sort();
}

function position({ endpointHash }: Recipient): number {
  return Buffer.from(endpointHash).readUInt32BE();
}

test('everyone returns each subscriber of the project once', async () => {
  const [projectId, other] = [await database.createProject(), await database.createProject()];
  const created = await subscribe(projectId, Array(300).fill(undefined));
  await subscribe(other, [undefined]);
  const { recipients, isCut } = await audiences().everyone(projectId, all, options);
  expect(endpointsOf(recipients)).toEqual(hrefs(created));
  expect(isCut).toBe(false);
});

test('ranges of positions divide the subscribers, each once', async () => {
  const projectId = await database.createProject();
  const created = await subscribe(projectId, Array(100).fill(undefined));
  // Not on the bounds of partitions.
  const bounds = [0, 1_000_000_000, 1_700_000_000, 4_000_000_000, positionCount];
  const found: Recipient[] = [];
  for (const [index, to] of bounds.slice(1).entries()) {
    const from = bounds[index]!;
    const { recipients } = await audiences().everyone(projectId, { from, to }, options);
    for (const recipient of recipients) {
      expect(position(recipient)).toBeGreaterThanOrEqual(from);
      expect(position(recipient)).toBeLessThan(to);
    }
    found.push(...recipients);
  }
  expect(endpointsOf(found)).toEqual(hrefs(created));
});

test('the range of a single position has its subscriber', async () => {
  const projectId = await database.createProject();
  const [created] = await subscribe(projectId, [undefined]);
  const from = Buffer.from(endpointHash(created!.endpoint.href)).readUInt32BE();
  const read = (range: { from: number; to: number }) =>
    audiences().everyone(projectId, range, options);
  expect((await read({ from, to: from + 1 })).recipients).toHaveLength(1);
  expect((await read({ from: from - 1, to: from })).recipients).toEqual([]);
});

test('reading stops above the limit, and says so', async () => {
  const projectId = await database.createProject();
  await subscribe(projectId, Array(60).fill('u1'));
  const read = (limit: number) => [
    audiences().everyone(projectId, all, { ...options, limit }),
    audiences().users(projectId, ['u1'], { from: 0, to: 1 }, { ...options, limit }),
  ];
  for (const { recipients, isCut } of await Promise.all(read(59))) {
    expect(recipients).toHaveLength(59);
    expect(isCut).toBe(true);
  }
  for (const { recipients, isCut } of await Promise.all(read(60))) {
    expect(recipients).toHaveLength(60);
    expect(isCut).toBe(false);
  }
});

test('a broadcast costs one query for each partition of its range', async () => {
  const projectId = await database.createProject();
  await subscribe(projectId, [undefined]);
  const before = database.calls();
  await audiences().everyone(projectId, all, options);
  expect(database.calls()).toBe(before + partCount);
  await audiences().everyone(projectId, { from: 0, to: positionCount / partCount }, options);
  expect(database.calls()).toBe(before + partCount + 1);
});

test('a recipient has only the fields that a push needs', async () => {
  const projectId = await database.createProject();
  const [subscribed] = await subscribe(projectId, ['u1']);
  const { endpoint, keys } = subscribed!;
  const { href, origin, path } = endpoint;
  const recipient = { endpointHash: new Uint8Array(endpointHash(href)), origin, path, ...keys };
  const everyone = await audiences().everyone(projectId, all, options);
  expect(everyone.recipients).toEqual([recipient]);
  const users = await audiences().users(projectId, ['u1'], { from: 0, to: 1 }, options);
  expect(users.recipients).toEqual([{ ...recipient, user: 0 }]);
});

test('users returns all subscribers with the given user ids', async () => {
  const projectId = await database.createProject();
  const ids = Array.from({ length: 60 }, (_, index) => `u${index}`);
  const expected = await subscribe(projectId, [...ids, 'u0', 'u0']);
  await subscribe(projectId, ['someone else', undefined]);
  await subscribe(await database.createProject(), ['u0']);
  const asked = [...ids, 'unknown'];
  const { recipients } = await audiences().users(projectId, asked, { from: 0, to: 61 }, options);
  expect(endpointsOf(recipients)).toEqual(hrefs(expected));
});

test('each recipient has the index of its user, also in a part of the user ids', async () => {
  const projectId = await database.createProject();
  const subscribed = await subscribe(projectId, ['u0', 'u1', 'u2', 'u2', 'u3']);
  const range = { from: 1, to: 3 };
  const ids = ['u0', 'u1', 'u2', 'u3'];
  const { recipients } = await audiences().users(projectId, ids, range, options);
  const found = recipients.map(({ origin, path, user }) => `${user} ${origin}${path}`);
  const [, one, two, three] = subscribed.map(({ endpoint }) => endpoint.href);
  expect(found.sort()).toEqual([`1 ${one}`, `2 ${two}`, `2 ${three}`].sort());
});

describe('conditions', () => {
  const now = new Date('2026-11-20T12:00:00Z');
  const day = 24 * 60 * 60 * 1000;
  let projectId: string;

  async function save(name: string, channels: string[] | undefined, seenAt: number, userId = 'u') {
    const { SUBSCRIPTIONS_TABLE: subscriptions, USAGE_TABLE: usage } = database.tables;
    const store = subscriptionStore(
      database.dynamo,
      { subscriptions, usage },
      () => new Date(seenAt),
    );
    const one = subscription({ userId, channels });
    await store.save(projectId, { ...one, endpoint: endpoint(`https://example.com/${name}`) }, 100);
  }

  /** Names of those that a broadcast and a targeted send read. */
  async function matching(conditions: Conditions): Promise<string> {
    const wanted = { ...options, ...conditions };
    const [everyone, users] = await Promise.all([
      audiences().everyone(projectId, all, wanted),
      audiences().users(projectId, ['u'], { from: 0, to: 1 }, wanted),
    ]);
    const names = endpointsOf(everyone.recipients).map((href) => href.slice(-1));
    expect(endpointsOf(users.recipients).map((href) => href.slice(-1))).toEqual(names);
    return names.join('');
  }

  beforeAll(async () => {
    projectId = await database.createProject();
    const since = seenSince(now, 7);
    await save('a', ['news'], now.getTime());
    await save('b', ['sales', 'news-eu'], since);
    await save('c', ['news', 'sales'], since - 1);
    await save('d', undefined, now.getTime());
  });

  test('days are counted back from the send, and one more', () => {
    expect(seenSince(now, 1)).toBe(now.getTime() - 2 * day);
    expect(seenSince(now, 365)).toBe(now.getTime() - 366 * day);
  });

  test.each<[string, Conditions, string]>([
    ['none: all of them', {}, 'abcd'],
    ['one channel: its whole name', { channels: ['news'] }, 'ac'],
    ['several channels: any of them', { channels: ['news', 'sales'] }, 'abc'],
    ['the most channels', { channels: Array(19).fill('none').concat('sales') }, 'bc'],
    ['a channel that nobody has', { channels: ['new'] }, ''],
    ['a time: not earlier', { seenSince: seenSince(now, 7) }, 'abd'],
    [
      'a channel and a time: both',
      { channels: ['news', 'sales'], seenSince: seenSince(now, 7) },
      'ab',
    ],
    ['a time that has not come', { seenSince: now.getTime() + 1 }, ''],
  ])('%s', async (_, conditions, names) => {
    expect(await matching(conditions)).toBe(names);
  });

  test('a recipient that is read with conditions has only the fields that a push needs', async () => {
    const { recipients } = await audiences().everyone(projectId, all, {
      ...options,
      channels: ['news'],
    });
    expect(Object.keys(recipients[0]!).sort()).toEqual(
      ['endpointHash', 'origin', 'path', 'p256dh', 'auth'].sort(),
    );
  });

  test('the limit counts subscriptions that match', async () => {
    const { recipients, isCut } = await audiences().everyone(projectId, all, {
      ...options,
      limit: 2,
      channels: ['news'],
    });
    expect([recipients.length, isCut]).toEqual([2, false]);
  });
});

test('a subscription that passes to another user during the reading is returned once', async () => {
  const projectId = await database.createProject();
  const [passing] = await subscribe(projectId, ['u1']);
  const { SUBSCRIPTIONS_TABLE: subscriptions, USAGE_TABLE: usage } = database.tables;
  const store = subscriptionStore(database.dynamo, { subscriptions, usage }, () => new Date());
  const reading = connect(database.endpoint);
  let passed = () => {};
  const hasPassed = new Promise<void>((resolve) => {
    passed = resolve;
  });
  // Reads u1, lets the subscription pass to u2, and reads u2.
  reading.middlewareStack.add(
    (next) => async (args) => {
      if (!JSON.stringify(args.input).includes('#u1')) return hasPassed.then(() => next(args));
      const page = await next(args);
      await store.save(projectId, { ...passing!, userId: 'u2' }, null);
      passed();
      return page;
    },
    { step: 'initialize' },
  );
  try {
    const { recipients } = await audienceStore(reading, subscriptions).users(
      projectId,
      ['u1', 'u2'],
      { from: 0, to: 2 },
      options,
    );
    expect(endpointsOf(recipients)).toEqual([passing!.endpoint.href]);
  } finally {
    reading.destroy();
  }
});

test('a query of several pages is read to its end', async () => {
  // A page of DynamoDB is 1 MB.
  const send = async ({ input }: { input: { ExclusiveStartKey?: object } }) =>
    input.ExclusiveStartKey === undefined
      ? { Items: [{ path: '/1' }], LastEvaluatedKey: { endpointHash: '1' } }
      : { Items: [{ path: '/2' }] };
  const store = audienceStore(clientWith(send), 'Subscriptions');
  const { recipients } = await store.everyone('shop', { from: 0, to: 1 }, options);
  expect(recipients).toEqual([{ path: '/1' }, { path: '/2' }]);
});

test('an aborted signal ends the reading', async () => {
  const projectId = await database.createProject();
  const signal = AbortSignal.abort();
  await expect(audiences().everyone(projectId, all, { ...options, signal })).rejects.toThrow();
});
