import { sliceSizes } from '../../../contract/infrastructure/delivery.ts';
import type { Recipient, Slice } from '../../../contract/infrastructure/slice.ts';
import type { DeliverDependencies } from '../../../lambdas/deliver/deliver.ts';
import { inFlight } from '../../../lambdas/push/pushing/push-service.ts';
import { summaryOf } from '../../../lambdas/results/summary.ts';
import { positionCount, projectUser, subscriptionKey } from '../../../lambdas/store/items.ts';
import { type Conduct, fcm, mozilla, virtualPushing } from '../../fixtures/virtual-pushing.ts';
import { tables } from '../../simulation/database/memory-database.ts';
import { Random } from '../../simulation/time/random.ts';
import {
  deliverySetup,
  project,
  recipients,
  slice as sliceOf,
  startMs,
  throttled,
} from './delivery-setup.ts';

// A real pusher delivers a slice that nobody waits for, in one attempt of Lambda after another.

jest.mock('../../../lambdas/push/crypto/encryption.ts', () => ({
  encryption: () => () => Buffer.alloc(0),
  topicHeader: () => () => '',
}));

const second = 1000;
const minute = 60 * second;
const functionMs = 15 * minute;
/** Lambda's pauses before its second and its third attempt. */
const pausesMs = [minute, 2 * minute];

const ntfy = 'https://ntfy.example.com';
const accepts = (after = 50): Conduct => ({ status: 201, after });

interface Setting {
  /** How many recipients are at each origin, mixed. */
  readonly at: Readonly<Record<string, number>>;
  /** Gets the ms since the start. */
  readonly conduct?: (origin: string, now: number, path: string) => Conduct;
  readonly change?: Partial<Slice>;
  /** Of each push service: so many pushes at a time. */
  readonly connections?: number;
}

function start({ at, conduct = () => accepts(), change = {}, connections }: Setting) {
  const origins = Object.keys(at);
  const total = Object.values(at).reduce((sum, number) => sum + number, 0);
  const random = new Random(7);
  const left = { ...at };
  const audience = recipients(total).map((one): Recipient => {
    const rest = origins.filter((origin) => left[origin]! > 0);
    const origin = random.pick(rest);
    left[origin]! -= 1;
    return { ...one, origin };
  });
  const setup = deliverySetup({ audience });
  const extraOrigins = [ntfy];
  const { startPushing, pushes } = virtualPushing(
    ({ origin, path }, time) => conduct(origin, time.now - startMs, path),
    {
      extraOrigins,
      inFlight: { ...inFlight, ...(connections && { perPushService: connections, initial: 4 }) },
    },
    setup.time,
  );
  const { chunk, expectedChunk } = sliceSizes;
  const isOne = total <= chunk;
  const step = isOne ? positionCount : Math.floor((positionCount * expectedChunk) / total);
  const slice = { step, sentAt: startMs, extraOrigins, ...change };
  const deps: DeliverDependencies = { ...setup.deps, startPushing };
  let attempts = 0;

  /** One attempt of Lambda, after its pause. @returns whether it is the last. */
  async function attempt(its: DeliverDependencies = deps): Promise<boolean> {
    if (attempts > 0) await setup.until(setup.time.now - startMs + pausesMs[attempts - 1]!);
    attempts += 1;
    return setup.run(slice, `attempt ${attempts}`, its, functionMs).then(
      () => true,
      () => attempts === 3,
    );
  }

  return {
    ...{ setup, slice, deps, pushes, attempt },
    async all() {
      while (!(await attempt()));
      return (await setup.stored())!;
    },
    /** Paths that were pushed to more than once, but for pushes that were refused. */
    twice(isRefused: (path: string) => boolean = () => false) {
      const paths = pushes.map(({ path }) => path).filter((path) => !isRefused(path));
      return paths.length - new Set(paths).size;
    },
    writes: () => setup.calls.filter((call) => call.startsWith('write')).length,
  };
}

describe('a push service that is slow', () => {
  test('takes the next attempt too, which begins where it was left: nobody twice, nobody in no count', async () => {
    const { attempt, setup, twice, pushes } = start({
      at: { [fcm]: 3000, [mozilla]: 500 },
      // In one attempt it takes about 800.
      connections: 8,
      conduct: (origin) => accepts(origin === fcm ? 9000 : 50),
    });
    expect(await attempt()).toBe(false);
    const first = (await setup.stored())!;
    const { claimed, counts, behind = {} } = first;
    expect(first).toMatchObject({ ended: undefined, isRead: false, counts: { unreached: 0 } });
    expect(Object.keys(behind)).toEqual(['fcm']);
    expect(counts).toMatchObject({ attempted: claimed, delivered: claimed });
    expect(claimed + behind.fcm!.passed).toBe(3500);
    await attempt();
    const second = (await setup.stored())!;
    expect(second.counts.delivered).toBeGreaterThan(claimed + 700);
    expect(second.claimed + second.behind!.fcm!.passed).toBe(3500);
    // The third ends it.
    expect(await attempt()).toBe(true);
    const { counts: last, ended, behind: nobody } = (await setup.stored())!;
    expect([ended, nobody]).toEqual(['delivered', undefined]);
    expect(last.attempted + last.unreached).toBe(3500);
    expect(last.unreached).toBeGreaterThan(0);
    expect(twice()).toBe(0);
    expect(pushes).toHaveLength(last.attempted);
  });

  test('delays only itself', async () => {
    const conduct = (origin: string) => (origin === fcm ? {} : accepts());
    const { attempt, pushes } = start({ at: { [fcm]: 3000, [mozilla]: 12_000 }, conduct });
    await attempt();
    const quick = pushes.filter(({ origin }) => origin === mozilla).map(({ at }) => at - startMs);
    expect(quick).toHaveLength(12_000);
    expect(Math.max(...quick)).toBeLessThan(15 * second);
  }, 60_000);
});

test('20,000 at a push service whose limits change are all delivered in the time of the send', async () => {
  const limits = (now: number) => {
    if (now < 10 * minute) return 1000;
    if (now < 15 * minute) return 100;
    return now < 20 * minute ? 0 : 1000;
  };
  let [window, taken] = [-1, 0];
  const refused = new Set<string>();
  const conduct = (origin: string, now: number, path: string): Conduct => {
    if (origin === mozilla) return accepts();
    const current = Math.floor(now / minute);
    if (current !== window) [window, taken] = [current, 0];
    if (taken < limits(now)) {
      taken += 1;
      return accepts();
    }
    refused.add(path);
    return { status: 429 };
  };
  const { all, pushes, twice } = start({ at: { [fcm]: 20_000, [mozilla]: 2000 }, conduct });
  const { ended, counts } = await all();
  expect(ended).toBe('delivered');
  expect(counts.attempted).toBe(22_000);
  const { throttled = 0, ...others } = counts.failures;
  expect(others).toEqual({});
  // Those that were refused in flight when an attempt ended.
  expect(throttled).toBeLessThanOrEqual(2 * 360);
  expect(counts.delivered).toBe(22_000 - throttled);
  expect(twice((path) => refused.has(path))).toBe(0);
  const quick = pushes.filter(({ origin }) => origin === mozilla).map(({ at }) => at - startMs);
  expect(Math.max(...quick)).toBeLessThan(5 * second);
}, 120_000);

test('a Retry-After that is longer than the send ends the attempts early', async () => {
  const forever: Conduct = { status: 429, headers: { 'retry-after': '86400' } };
  const { all, setup } = start({
    at: { [fcm]: 5000, [mozilla]: 500 },
    conduct: (origin) => (origin === fcm ? forever : accepts()),
  });
  const { counts } = await all();
  expect(counts.delivered).toBe(500);
  expect(counts.failures.throttled! + counts.unreached).toBe(5000);
  // The row that pauses it. One push asks in each further attempt.
  expect(counts.failures.throttled).toBe(100 + 2);
  expect(setup.time.now - startMs).toBeLessThan(4 * minute);
});

/** Dependencies of a function that dies then: it neither wakes up, nor pushes, nor writes. */
function dyingAt(at: number, deps: DeliverDependencies, now: () => number): DeliverDependencies {
  const never = new Promise<never>(() => {});
  const isDead = () => now() >= startMs + at;
  const unlessDead = <Result>(result: Promise<Result>) =>
    result.then((value) => (isDead() ? never : value));
  return {
    ...deps,
    sleep: (ms, signal) => unlessDead(deps.sleep(ms, signal)),
    abortAfter: () => new AbortController().signal,
    slices: {
      ...deps.slices,
      write: (...call) => (isDead() ? never : unlessDead(deps.slices.write(...call))),
    },
  };
}

test('a death at full pace takes five seconds of pushes with it, and nobody is pushed to twice', async () => {
  const { chunk, expectedChunk } = sliceSizes;
  // A tenth of the recipients, and of 2,000 pushes a second.
  Object.assign(sliceSizes, { chunk: chunk / 10, expectedChunk: expectedChunk / 10 });
  const [subscribers, pace] = [3000, 200];
  const random = new Random(11);
  const neverPushed: number[] = [];
  for (let run = 0; run < 20; run += 1) {
    const diesAt = random.between(500, 12_000);
    const { deps, setup, slice, pushes } = start({
      at: { [fcm]: subscribers / 2, [mozilla]: subscribers / 2 },
      change: { pushesPerSecond: pace },
    });
    const isOver = () => setup.time.now - startMs >= diesAt;
    const first = virtualPushing(() => (isOver() ? {} : accepts()), {}, setup.time);
    const dead = dyingAt(diesAt, deps, () => setup.time.now);
    const dying = setup.startSlice(slice, 'dead', { ...dead, startPushing: first.startPushing });
    dying.catch(() => {});
    await setup.until(diesAt);
    const before = first.pushes.filter(({ at }) => at < startMs + diesAt);
    await setup.run(slice, 'next', deps, functionMs);
    const { counts, ended } = (await setup.stored())!;
    expect([ended, counts.attempted]).toEqual(['delivered', subscribers]);
    const paths = [...before, ...pushes].map(({ path }) => path);
    expect(new Set(paths).size).toBe(paths.length);
    neverPushed.push(subscribers - paths.length);
  }
  Object.assign(sliceSizes, { chunk, expectedChunk });
  for (const number of neverPushed) expect(number).toBeLessThanOrEqual(5 * pace);
  const mean = neverPushed.reduce((sum, number) => sum + number, 0) / neverPushed.length;
  expect(mean).toBeLessThanOrEqual(3 * pace);
});

describe('the writes of a slice', () => {
  /** At 2,000 pushes a second. */
  const paced = { change: { pushesPerSecond: 2000 } };

  test('to 9,000 are a claim, one every 2 s, and the end', async () => {
    const quick = start({ at: { [fcm]: 4500, [mozilla]: 4500 } });
    await quick.all();
    expect(quick.setup.calls.filter((call) => call.startsWith('write'))).toEqual([
      'write 0 attempted, 9000 pending',
      'write 9000 attempted, 0 pending, ended',
    ]);
    const slow = start({ at: { [fcm]: 4500, [mozilla]: 4500 }, ...paced });
    await slow.all();
    // 4.5 s.
    expect(slow.writes()).toBe(4);
  }, 60_000);

  test('to more are one every 2 s', async () => {
    const { all, writes, setup } = start({ at: { [fcm]: 15_000, [mozilla]: 15_000 }, ...paced });
    await all();
    const seconds = (setup.time.now - startMs) / second;
    expect(seconds).toBeLessThan(16);
    expect(writes()).toBeLessThanOrEqual(seconds / 2 + 2);
  }, 60_000);
});

describe('no alarm judges', () => {
  test('who is unreached at hosts that are not known by name', async () => {
    const silentHost = 'https://1-courier.push.apple.com';
    const { all } = start({
      at: { [silentHost]: 500, [mozilla]: 100 },
      conduct: (origin) => (origin === silentHost ? {} : accepts()),
    });
    expect(await all()).toMatchObject({
      counts: { delivered: 100, unreached: 490 },
      unjudged: 490,
    });
  });

  test('whom a stop has left at such hosts', async () => {
    const slowHost = 'https://1-courier.push.apple.com';
    const { setup, all } = start({
      at: { [slowHost]: 500, [mozilla]: 9 },
      conduct: (origin) => accepts(origin === slowHost ? 5000 : 50),
    });
    setup.time.at(startMs + 20 * second, () => void setup.slices.stop(sliceOf(), setup.time.now));
    const { counts, unjudged } = await all();
    expect(counts.unreached).toBeGreaterThan(400);
    expect(unjudged).toBe(counts.unreached);
  });

  test('the browsers of a user beyond those that a send reaches', async () => {
    const { setup, all } = start({ at: {}, change: { userIds: ['ann'], from: 0, to: 1, step: 1 } });
    for (const device of recipients(105)) {
      setup.database.put(tables.subscriptions, {
        ...{ ...device, origin: fcm, createdAt: startMs, userSince: startMs },
        ...subscriptionKey(project.ref, device.endpointHash),
        projectUser: projectUser(project.ref, 'ann'),
      });
    }
    const { counts, unjudged } = await all();
    expect(counts).toMatchObject({ attempted: 100 });
    expect(counts.unreached).toBeGreaterThan(0);
    expect(unjudged).toBe(counts.unreached);
  });
});

describe('between two attempts', () => {
  /** Leaves recipients of FCM behind after the first attempt. */
  const slow: Setting = {
    at: { [fcm]: 1500, [mozilla]: 100 },
    connections: 8,
    conduct: (origin) => accepts(origin === fcm ? 9000 : 50),
  };

  test('who unsubscribes is not pushed to, and who comes gets nothing', async () => {
    const { setup, attempt, all, pushes } = start(slow);
    await attempt();
    const { cursor } = (await setup.stored())!.behind!.fcm!;
    const behind = setup.database.items(tables.subscriptions).filter(({ origin, endpointHash }) => {
      return origin === fcm && Buffer.compare(endpointHash as Uint8Array, cursor) > 0;
    });
    const [leaves] = behind;
    const endpointHash = Buffer.from(leaves!.endpointHash as Uint8Array);
    endpointHash[31] = 1;
    const createdAt = startMs + 5 * minute;
    const newcomer = { ...leaves, endpointHash, path: '/newcomer', createdAt };
    setup.database.put(tables.subscriptions, newcomer);
    const removed = [leaves!.endpointHash as Uint8Array];
    await setup.deps.subscriptions.removeBatch(project.ref, removed);
    const before = pushes.length;
    const { counts } = await all();
    const later = pushes.slice(before).map(({ path }) => path);
    expect(later).not.toContain(leaves!.path);
    expect(later).not.toContain('/newcomer');
    expect(later).toHaveLength(behind.length);
    expect(counts).toMatchObject({ attempted: 1599, unreached: 0 });
  });

  test('a deployment that renames an origin counts its recipients once', async () => {
    const { setup, attempt, all, deps } = start({
      ...slow,
      at: { [ntfy]: 1500, [mozilla]: 100 },
      conduct: (origin) => accepts(origin === ntfy ? 9000 : 50),
    });
    await attempt();
    const left = (await setup.stored())!;
    expect(left.behind).toEqual({ [ntfy]: expect.anything() });
    const renamed = virtualPushing(
      () => accepts(),
      { extraOrigins: ['https://ntfy.example.org'] },
      setup.time,
    );
    await attempt({ ...deps, startPushing: renamed.startPushing });
    expect(renamed.pushes).toEqual([]);
    const { counts } = await all();
    expect(counts).toMatchObject({
      ...{ attempted: 1600, delivered: left.counts.delivered, unreached: 0 },
      failures: { unsendable: 1600 - left.counts.delivered },
    });
  });

  test('the users of a slice are continued in the middle of one', async () => {
    // As many devices of each as a send reaches.
    const userIds = Array.from({ length: 15 }, (_, index) => `user-${index}`);
    const { setup, all, pushes, twice } = start({
      ...slow,
      at: {},
      change: { userIds, from: 0, to: 15, step: 15 },
    });
    for (const [index, device] of recipients(1500).entries()) {
      setup.database.put(tables.subscriptions, {
        ...{ ...device, origin: index % 10 === 0 ? mozilla : fcm, createdAt: startMs },
        ...subscriptionKey(project.ref, device.endpointHash),
        projectUser: projectUser(project.ref, userIds[index % 15]!),
        userSince: startMs,
      });
    }
    const { counts, ended } = await all();
    expect(ended).toBe('delivered');
    expect(counts).toMatchObject({ attempted: 1500, delivered: 1500 });
    expect(pushes).toHaveLength(1500);
    expect(twice()).toBe(0);
  });
});

describe('a slice that is stopped', () => {
  test.each([
    ['between two attempts', 15.5 * minute],
    ['in an attempt', 17 * minute],
  ])('%s counts whom it has left as unreached', async (_, at) => {
    const { setup, all, twice } = start({
      at: { [fcm]: 3000, [mozilla]: 500 },
      connections: 8,
      conduct: (origin) => accepts(origin === fcm ? 9000 : 50),
    });
    setup.time.at(startMs + at, () => void setup.slices.stop(sliceOf(), setup.time.now));
    await all();
    const stored = (await setup.stored())!;
    const { counts } = summaryOf(
      {
        ...{ sentAt: new Date(startMs) },
        division: {
          ...{ subscribers: 3500, conditions: {}, slices: 1, countersPerSlice: 1 },
          respondedAsync: true,
        },
      },
      [stored],
      new Date(setup.time.now + 90 * minute),
    );
    expect(counts.attempted + counts.unreached).toBe(3500);
    expect(counts.failures.interrupted ?? 0).toBe(0);
    expect(twice()).toBe(0);
  });

  test('between its claim and its event counters leaves nobody interrupted', async () => {
    const { setup, slice, deps } = start({ at: { [fcm]: 100 } });
    const create = async () => {
      await setup.time.sleep(100);
      await setup.slices.stop(sliceOf(), setup.time.now);
      throw throttled;
    };
    await setup.run(slice, 'one', { ...deps, eventCounters: { create } }, functionMs);
    expect(await setup.stored()).toMatchObject({
      ...{ ended: 'delivered', pending: 0, counts: { attempted: 0, unreached: 100 } },
    });
  });
});
