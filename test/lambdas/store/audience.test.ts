import { setImmediate } from 'node:timers/promises';
import type { QueryCommandInput } from '@aws-sdk/lib-dynamodb';
import { sliceTimeline } from '../../../contract/infrastructure/delivery.ts';
import type { Recipient } from '../../../contract/infrastructure/slice.ts';
import { projectTables } from '../../../contract/infrastructure/tables.ts';
import type { Conditions } from '../../../contract/wire/content.ts';
import type { Choice } from '../../../contract/wire/fields.ts';
import type { ProjectRef } from '../../../contract/wire/project.ts';
import { audienceStore, seenSince } from '../../../lambdas/store/audience.ts';
import { newParts } from '../../../lambdas/store/counters.ts';
import {
  endpointHash,
  partitionCount,
  positionCount,
  projectUser,
} from '../../../lambdas/store/items.ts';
import { subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { clientWith } from '../../fixtures/client-with.ts';
import { connect, useDatabase } from '../../fixtures/database.ts';
import { keyed } from '../../fixtures/known-project.ts';
import { endpoint, subscription } from '../../fixtures/subscription.ts';
import {
  chosenMembers,
  type SimulatedCondition,
  seenDays,
  simulatedConditions,
} from '../../simulation/conditions.ts';
import { MemoryDatabase, tables } from '../../simulation/database/memory-database.ts';
import { Random } from '../../simulation/time/random.ts';

const database = useDatabase();

const all = { from: 0, to: positionCount };
const options = {
  limit: 30_000,
  consistent: true,
  conditions: {},
  sentAt: Date.parse('2126-01-01'),
};

const audiences = () => audienceStore(database.dynamo, database.tables.SUBSCRIPTIONS_TABLE);

async function subscribe(project: ProjectRef, userIds: readonly (string | undefined)[]) {
  const store = subscriptionStore(
    database.dynamo,
    projectTables(database.tables),
    () => new Date(),
  );
  const created = userIds.map((userId) => subscription({ choice: { userId } }));
  await Promise.all(created.map((one) => store.save(keyed(project), one, null)));
  return created;
}

function endpointsOf(recipients: readonly Recipient[]): string[] {
  return recipients.map(({ origin, path }) => origin + path).sort();
}

function hrefs(subscriptions: readonly { endpoint: { href: string } }[]): string[] {
  return subscriptions.map(({ endpoint }) => endpoint.href).sort();
}

test('everyone returns each subscriber of the project once', async () => {
  const [{ ref: project }, { ref: other }] = [
    await database.createProject(),
    await database.createProject(),
  ];
  const created = await subscribe(project, Array(300).fill(undefined));
  await subscribe(other, [undefined]);
  const { recipients, to } = await audiences().everyone(project, all, options);
  expect(endpointsOf(recipients)).toEqual(hrefs(created));
  expect(to).toBe(positionCount);
});

describe('reading stops above the limit', () => {
  let paged: ReturnType<typeof connect>;

  beforeAll(() => {
    paged = connect(database.endpoint);
    // A page of DynamoDB is 1 MB. Here it has three items.
    paged.middlewareStack.add(
      (next) => (args) => next({ ...args, input: { ...args.input, Limit: 3 } }),
      { step: 'initialize' },
    );
  });
  afterAll(() => paged.destroy());

  const audiences = () => audienceStore(paged, database.tables.SUBSCRIPTIONS_TABLE);

  /** Reads a range to its end, piece by piece. @returns the pieces. */
  async function pieces(
    read: (from: number) => ReturnType<ReturnType<typeof audiences>['everyone']>,
    end: number,
  ) {
    const found = [];
    for (let from = 0; from < end; ) {
      const piece = await read(from);
      found.push(piece);
      expect(piece.to).toBeGreaterThan(from);
      from = piece.to;
    }
    return found;
  }

  test('and goes on where it has stopped: nobody is missing, and nobody read twice', async () => {
    const { ref: project } = await database.createProject();
    const created = await subscribe(project, Array(60).fill(undefined));
    const found = await pieces(
      (from) => audiences().everyone(project, { ...all, from }, { ...options, limit: 7 }),
      positionCount,
    );
    expect(endpointsOf(found.flatMap(({ recipients }) => recipients))).toEqual(hrefs(created));
    // Its queries read a page each before they see how many there are.
    const most = 7 + partitionCount * 3;
    expect(found.every(({ recipients, unread }) => recipients.length <= most && unread === 0)).toBe(
      true,
    );
    expect(found.length).toBeGreaterThan(1);
  });

  test('between users: those that fit are not read again', async () => {
    const { ref: project } = await database.createProject();
    const userIds = ['u0', 'u1', 'u2', 'u3', 'u4'];
    const created = await subscribe(project, [...userIds, ...userIds, 'u3', 'u3']);
    // Of the queries that run at once, that of the user with two pages is the last to be answered.
    const others: Promise<unknown>[] = [];
    paged.middlewareStack.add(
      (next) => async (args) => {
        const answer = next(args);
        const { ExpressionAttributeValues } = args.input as QueryCommandInput;
        const isLast = ExpressionAttributeValues?.[':user'] === projectUser(project, 'u3');
        if (isLast) await answer.then(() => Promise.all(others));
        else others.push(answer);
        return answer;
      },
      { step: 'initialize' },
    );
    const found = await pieces(
      (from) => audiences().users(project, userIds, { from, to: 5 }, { ...options, limit: 4 }),
      5,
    );
    expect(endpointsOf(found.flatMap(({ recipients }) => recipients))).toEqual(hrefs(created));
    expect(found.every(({ unread }) => unread === 0)).toBe(true);
    expect(found.length).toBeGreaterThan(1);
  });

  test('within a user who has more, and says that some were left out', async () => {
    const { ref: project } = await database.createProject();
    await subscribe(project, ['u0', ...Array(20).fill('u1'), 'u2']);
    const found = await pieces(
      (from) =>
        audiences().users(project, ['u0', 'u1', 'u2'], { from, to: 3 }, { ...options, limit: 5 }),
      3,
    );
    expect(found.map(({ recipients, unread }) => [recipients.length, unread])).toEqual([
      ...[
        [1, 0],
        [5, 1],
        [1, 0],
      ],
    ]);
  });
});

describe('of a user, a send reaches the 100 subscriptions that were theirs first', () => {
  let now = 0;

  /** Registers browsers, one after another, for a user or for none. */
  async function register(
    project: ProjectRef,
    browsers: readonly ReturnType<typeof subscription>[],
    userId: string | undefined,
  ) {
    const { dynamo, tables } = database;
    const store = subscriptionStore(dynamo, projectTables(tables), () => new Date(now));
    for (const browser of browsers) {
      now += 1;
      await store.save(keyed(project), { ...browser, choice: { userId } }, null);
    }
  }

  const many = (number: number) => Array.from({ length: number }, () => subscription());
  const readAda = (project: ProjectRef) =>
    audiences().users(project, ['ada'], { from: 0, to: 1 }, options);

  test('whoever claims the user later', async () => {
    const { ref: project } = await database.createProject();
    const [hers, flood] = [many(1), many(250)];
    await register(project, hers, 'ada');
    await register(project, flood, 'ada');
    const { recipients, unread } = await readAda(project);
    expect(endpointsOf(recipients)).toEqual(hrefs([...hers, ...flood.slice(0, 99)]));
    expect(unread).toBe(1);
  });

  test('also for subscriptions that are older than hers', async () => {
    const { ref: project } = await database.createProject();
    const [hers, flood] = [many(1), many(120)];
    await register(project, flood, undefined);
    await register(project, hers, 'ada');
    await register(project, flood, 'ada');
    // They confirm what they are, as the SDK does once a day.
    await register(project, [...flood, ...hers], 'ada');
    const { recipients } = await readAda(project);
    expect(endpointsOf(recipients)).toContain(hrefs(hers)[0]);
    // Who leaves and comes back is the last one.
    await register(project, hers, 'bob');
    await register(project, hers, 'ada');
    expect(endpointsOf((await readAda(project)).recipients)).not.toContain(hrefs(hers)[0]);
  });

  test('all of one who has 100', async () => {
    const { ref: project } = await database.createProject();
    await register(project, many(100), 'ada');
    const { recipients, unread } = await readAda(project);
    expect([recipients.length, unread]).toEqual([100, 0]);
  });
});

test('an aborted signal ends the reading', async () => {
  const { ref: project } = await database.createProject();
  const signal = AbortSignal.abort();
  await expect(audiences().everyone(project, all, { ...options, signal })).rejects.toThrow();
});

test('after a query that fails, no other begins, and none is under way when the reading ends', async () => {
  let [begun, ended] = [0, 0];
  const dynamo = clientWith(async () => {
    begun += 1;
    const isFailing = begun === 20;
    await setImmediate();
    ended += 1;
    if (isFailing) throw new Error('a fault');
    return {};
  });
  const userIds = Array.from({ length: 1000 }, (_, index) => `u${index}`);
  const reading = audienceStore(dynamo, 'Subscriptions').users(
    ...(['shop' as ProjectRef, userIds, { from: 0, to: 1000 }, options] as const),
  );
  await expect(reading).rejects.toThrow('a fault');
  expect(ended).toBe(begun);
  expect(begun).toBeLessThan(50);
  await setImmediate();
  expect(ended).toBe(begun);
});

test('a recipient has only the fields that a push needs', async () => {
  const { ref: project } = await database.createProject();
  const [subscribed] = await subscribe(project, ['u1']);
  const { endpoint, keys } = subscribed!;
  const { href, origin, path } = endpoint;
  const recipient = {
    endpointHash: new Uint8Array(endpointHash(keyed(project), href)),
    origin,
    path,
    ...keys,
  };
  const everyone = await audiences().everyone(project, all, options);
  expect(everyone.recipients).toEqual([recipient]);
  const users = await audiences().users(project, ['u1'], { from: 0, to: 1 }, options);
  expect(users.recipients).toEqual([{ ...recipient, user: 0 }]);
});

test('each recipient has the index of its user, also in a part of the user ids', async () => {
  const { ref: project } = await database.createProject();
  const subscribed = await subscribe(project, ['u0', 'u1', 'u2', 'u2', 'u3', undefined]);
  await subscribe((await database.createProject()).ref, ['u2']);
  const range = { from: 1, to: 3 };
  const ids = ['u0', 'u1', 'u2', 'u3'];
  const { recipients } = await audiences().users(project, ids, range, options);
  const found = recipients.map(({ origin, path, user }) => `${user} ${origin}${path}`);
  const [, one, two, three] = subscribed.map(({ endpoint }) => endpoint.href);
  expect(found.sort()).toEqual([`1 ${one}`, `2 ${two}`, `2 ${three}`].sort());
});

describe('conditions', () => {
  const now = Date.parse('2026-11-20T12:00:00Z');
  const day = 24 * 60 * 60 * 1000;
  let project: ProjectRef;

  async function save(name: string, choice: Choice, seenAt: number, of = project) {
    const store = subscriptionStore(
      database.dynamo,
      projectTables(database.tables),
      () => new Date(seenAt),
    );
    const one = subscription({ choice: { ...choice, userId: 'u' } });
    await store.save(keyed(of), { ...one, endpoint: endpoint(`https://example.com/${name}`) }, 100);
  }

  /** Names of those that a broadcast and a targeted send read. */
  async function matching(conditions: Conditions, of = project, sentAt = now): Promise<string> {
    const wanted = { ...options, conditions, sentAt };
    const [everyone, users] = await Promise.all([
      audiences().everyone(of, all, wanted),
      audiences().users(of, ['u'], { from: 0, to: 1 }, wanted),
    ]);
    const names = endpointsOf(everyone.recipients).map((href) => href.slice(-1));
    expect(endpointsOf(users.recipients).map((href) => href.slice(-1))).toEqual(names);
    return names.join('');
  }

  beforeAll(async () => {
    project = (await database.createProject()).ref;
    const since = seenSince(now, 7);
    await save('a', { channels: ['news'], locale: 'de-CH' }, now);
    await save('b', { channels: ['sales', 'news-eu'], locale: 'zh-TW' }, since);
    await save('c', { channels: ['news', 'sales'], locale: 'no' }, since - 1);
    await save('d', {}, now);
  });

  test('days are counted back from the send, and one more', () => {
    expect(seenSince(now, 1)).toBe(now - 2 * day);
    expect(seenSince(now, 365)).toBe(now - 366 * day);
  });

  test('who subscribes later than the send is in no audience', async () => {
    const first = now - sliceTimeline.createdWithinMs;
    expect(await matching({}, project, first)).toBe('abcd');
    expect(await matching({}, project, first - 1)).toBe('bc');
  });

  const cases: readonly [string, Conditions, string][] = [
    ['none: all of them', {}, 'abcd'],
    ['one channel: its whole name', { channels: ['news'] }, 'ac'],
    ['several channels: any of them', { channels: ['news', 'sales'] }, 'abc'],
    ['the most channels', { channels: Array(19).fill('none').concat('sales') }, 'bc'],
    ['a channel that nobody has', { channels: ['new'] }, ''],
    ['a language: its regions too', { locales: ['de'] }, 'a'],
    ['a region of a language', { locales: ['de-AT'] }, ''],
    ['a script that follows from the region', { locales: ['zh-Hant'] }, 'b'],
    ['another script', { locales: ['zh-Hans'] }, ''],
    ['the other tag of a language, or another language', { locales: ['nb', 'zh'] }, 'bc'],
    ['a time: not earlier', { seenWithinDays: 7 }, 'abd'],
    ['a channel and a time: both', { channels: ['news', 'sales'], seenWithinDays: 7 }, 'ab'],
  ];

  test.each(cases)('%s', async (_, conditions, names) => {
    expect(await matching(conditions)).toBe(names);
  });

  test.each(Object.entries<SimulatedCondition>(simulatedConditions))(
    '%s selects the browsers that the simulation expects',
    async (name, { some, isMet }) => {
      const { ref } = await database.createProject();
      const random = new Random(1);
      const stored = [...'abcdefghijkl'].map((path) => ({
        ...{ path, choice: chosenMembers(random) },
        updatedAt: now - random.integer(0, 2 * seenDays) * day,
      }));
      for (const { path, choice, updatedAt } of stored) await save(path, choice, updatedAt, ref);
      const value = some(random);
      const meant = stored.filter((one) => isMet(value as never, one, now));
      expect(await matching({ [name]: value }, ref)).toBe(meant.map(({ path }) => path).join(''));
      expect(meant.length % stored.length).toBeGreaterThan(0);
    },
  );

  test('the limit counts subscriptions that match', async () => {
    const { recipients, to } = await audiences().everyone(project, all, {
      ...options,
      limit: 2,
      conditions: { channels: ['news'] },
    });
    expect([recipients.length, to]).toEqual([2, positionCount]);
  });
});

test.each([
  ['and for the next one', [5, 0], [1]],
  ['and not for the next one', [5, 5], []],
])('a browser that the index still has for a user, %s, is no longer theirs', async (...row) => {
  const [, [...lags], owners] = row;
  const project = 'shop-1' as ProjectRef;
  let now = 0;
  const memory = new MemoryDatabase({ now: () => now, lagMs: () => lags.shift()! });
  for (const part of newParts({ project })) memory.put(tables.usage, { ...part });
  const subscriptions = subscriptionStore(memory.client(), tables, () => new Date(now));
  const browser = subscription();
  for (const userId of ['ada', 'bob']) {
    now += 5;
    await subscriptions.save(keyed(project), { ...browser, choice: { userId } }, null);
  }
  const store = audienceStore(memory.client(), tables.subscriptions);
  const { recipients } = await store.users(project, ['ada', 'bob'], { from: 0, to: 2 }, options);
  expect(recipients.map(({ user }) => user)).toEqual(owners);
});
