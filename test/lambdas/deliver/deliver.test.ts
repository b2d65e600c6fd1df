import { noCounts } from '../../../contract/wire/counts.ts';
import type { Message } from '../../../lambdas/push/pushing/push.ts';
import { positionCount } from '../../../lambdas/store/items.ts';
import type { StoredSlice } from '../../../lambdas/store/slices.ts';
import { tables } from '../../simulation/database/memory-database.ts';
import { writeOf } from '../store/stored-notifications.ts';
import {
  allDelivered,
  awaited,
  type DeliverySetup,
  deliverySetup,
  dying,
  project,
  recipients,
  slice,
  startMs,
  throttled,
} from './delivery-setup.ts';
import { fakePusher } from './fake-pusher.ts';

const quarters = { step: positionCount / 4 };

describe('a slice of one chunk', () => {
  test('is claimed before its first push, and ended after the last', async () => {
    const setup = deliverySetup({ audience: recipients(3) });
    expect(await setup.runHere()).toMatchObject({ hasEnded: true, error: undefined });
    expect(setup.calls).toEqual([
      ...['create 0', 'write 0 attempted, 3 pending'],
      ...['push 3', 'write 3 attempted, 0 pending, ended', 'delivered'],
    ]);
    const counts = { ...noCounts, attempted: 3, delivered: 3 };
    expect(await setup.stored()).toMatchObject({ pending: 0, counts, ended: 'delivered' });
  });

  test('is leased for a minute, and no longer than its invocation lasts', async () => {
    const lease = async (start: (setup: DeliverySetup) => unknown) => {
      const setup = deliverySetup({ audience: recipients(3), chunkMs: 1000 });
      void start(setup);
      await setup.until(500);
      return (await setup.stored())!.lease!.until - startMs;
    };
    expect(await lease(({ startSlice }) => startSlice())).toBe(60_000);
    expect(await lease(({ startHere }) => startHere())).toBe(27_000);
  });

  test('is pushed with the times, the pace and the keys that hold for it', async () => {
    const setup = deliverySetup({ audience: recipients(3) });
    await setup.runHere();
    expect(setup.chunks[0]).toMatchObject({
      ...{ vapid: project.vapid, readAt: startMs, pushesPerSecond: 20_000, isAwaited: true },
      times: { lastPushAt: startMs + 22_000, endAt: startMs + 25_000 },
    });
    expect(setup.chunks[0]!.isStillWanted).toBeUndefined();
  });

  test('has an event counter for each message, which exists before the first push', async () => {
    const setup = deliverySetup({ audience: recipients(3) });
    await setup.runHere({ firstCounter: 6, counters: 3, eventWindowSeconds: 7 });
    const firstPush = setup.calls.indexOf('push 3');
    expect(setup.calls.slice(0, firstPush)).toEqual(
      expect.arrayContaining(['create 6', 'create 7', 'create 8']),
    );
    const dataOf = (message: Message) => JSON.parse(message.toString()).notification.data;
    const urls = [6, 7, 8].map((number) => `https://push.example.com/events?tally=${number}`);
    expect(setup.chunks[0]!.messages.map(dataOf)).toMatchObject(
      urls.map((events) => ({ events, window: 7 })),
    );
  });

  test('removes and corrects subscriptions of its project', async () => {
    const setup = deliverySetup({ audience: recipients(16) });
    await setup.runHere();
    const [chunk] = setup.chunks;
    const { signal } = new AbortController();
    const [one, other, corrected] = recipients(16);
    await chunk!.remove([one!, other!], signal);
    await chunk!.correctPair(corrected!, 4, signal);
    const stored = setup.database.items(tables.subscriptions);
    expect(stored).toHaveLength(14);
    expect(stored.find(({ path }) => path === '/2')).toMatchObject({ vapidPairNumber: 4 });
  });
});

test('marks are written again until the database takes them', async () => {
  const audience = recipients(3);
  const { deps, ...setup } = deliverySetup({ audience });
  let calls = 0;
  const mark: typeof deps.subscriptions.mark = async (...call) => {
    calls += 1;
    if (calls < 5) throw throttled;
    return deps.subscriptions.mark(...call);
  };
  const subscriptions = { ...deps.subscriptions, mark };
  await setup.run({}, 'mine', { ...deps, subscriptions });
  const { signal } = new AbortController();
  await setup.time.until(setup.chunks[0]!.mark([[audience[1]!, 7]], signal));
  const marked = setup.database.items(tables.subscriptions).map(({ goneSince }) => goneSince);
  expect(marked).toEqual([undefined, 7, undefined]);
});

describe('the key pairs of a chunk', () => {
  const current = { number: 1, publicKey: 'new', privateKey: 'new d' };
  const rotated = { ...project, vapid: { current, previous: project.vapid.current } };
  const audience = recipients(3).map((one, index) =>
    index === 2 ? { ...one, vapidPairNumber: 1 } : one,
  );

  test('are read again before the claim if a recipient has a newer one', async () => {
    const projects = { refresh: async () => rotated };
    const setup = deliverySetup({ audience, overrides: { projects } });
    await setup.runHere();
    expect(setup.chunks[0]!.vapid).toEqual(rotated.vapid);
  });

  test('that cannot be read leave the slice unclaimed', async () => {
    const projects = { refresh: () => Promise.reject(new Error('throttled')) };
    const setup = deliverySetup({ audience, overrides: { projects } });
    expect(await setup.runHere()).toMatchObject({ error: new Error('throttled') });
    expect(await setup.stored()).toBeUndefined();
  });
});

describe('a slice of several chunks', () => {
  test('claims no chunk after the last push of a request, and has ended then', async () => {
    const setup = deliverySetup({ audience: recipients(8), chunkMs: 8000 });
    expect(await setup.runHere(quarters)).toMatchObject({ hasEnded: true });
    expect(setup.pushed()).toHaveLength(6);
    expect(setup.calls.filter((call) => call.startsWith('create'))).toEqual(['create 0']);
    expect(await setup.stored()).toMatchObject({
      ...{ ended: 'delivered', isRead: false, pending: 0, counts: { attempted: 6 } },
    });
  });

  test('claims none whose pushes may not end before its function, and is left to the next attempt', async () => {
    const setup = deliverySetup({ audience: recipients(8), chunkMs: 1000 });
    const lastsMs = 20_000 + 15_000 + 1500 + 2000;
    await expect(setup.run(quarters, 'first', setup.deps, lastsMs)).rejects.toThrow(
      'the next attempt continues',
    );
    expect(setup.pushed()).toHaveLength(4);
    // The next attempt does not wait for a lease that nobody needs.
    expect(await setup.stored()).toMatchObject({ pending: 0, ended: undefined });
    expect((await setup.stored())!.lease!.until).toBe(setup.time.now);
    await setup.run(quarters);
    expect(setup.pushed()).toEqual(recipients(8).map(({ path }) => path));
    expect(await setup.stored()).toMatchObject({ ended: 'delivered', counts: { delivered: 8 } });
  });
});

describe('the progress of a slice', () => {
  test('is stored every 2 s', async () => {
    let attempted = 0;
    const setup = deliverySetup({ audience: recipients(10) });
    const startPushing = fakePusher((chunk) => {
      for (const ms of [1000, 3000])
        setup.time.at(startMs + ms, () => {
          attempted += 4;
        });
      return {
        done: setup.time.sleep(5000).then(() => allDelivered(chunk)),
        soFar: () => ({ ...noCounts, attempted, delivered: attempted }),
      };
    });
    await setup.runHere({}, { ...setup.deps, startPushing });
    expect(setup.calls.filter((call) => call.startsWith('write')).slice(1)).toEqual([
      'write 4 attempted, 6 pending',
      'write 8 attempted, 2 pending',
      'write 10 attempted, 0 pending, ended',
    ]);
    setup.calls.length = 0;
    await setup.until(20_000);
    expect(setup.calls).toEqual([]);
  });

  test('counts a recipient that is already unreached once', async () => {
    const soFar = { ...noCounts, attempted: 4, delivered: 4, unreached: 5 };
    const setup = deliverySetup({ audience: recipients(10) });
    const startPushing = fakePusher(() => dying(soFar));
    void setup.startHere({}, { ...setup.deps, startPushing });
    await setup.until(2500);
    expect(await setup.stored()).toMatchObject({
      ...{ pending: 1, counts: { attempted: 4, unreached: 5 } },
    });
  });

  /** Stores that store the claim of a slice, and its end only after this many failures. */
  function failing({ deps }: DeliverySetup, failures: number): DeliverySetup['deps'] {
    let left = failures;
    const write: typeof deps.slices.write = async (key, one, signal) => {
      if (one.event.id.n > 1 && left-- > 0) throw throttled;
      return deps.slices.write(key, one, signal);
    };
    return { ...deps, slices: { ...deps.slices, write } };
  }

  test('is stored again at the end until that succeeds', async () => {
    const setup = deliverySetup({ audience: recipients(3) });
    expect(await setup.runHere({}, failing(setup, 3))).toMatchObject({ hasEnded: true });
    expect(await setup.stored()).toMatchObject({ ended: 'delivered', counts: { attempted: 3 } });
  });

  test('that cannot be stored is left to the next attempt if nobody waits', async () => {
    const setup = deliverySetup({ audience: recipients(3) });
    const failed = setup.run({}, 'mine', failing(setup, Number.POSITIVE_INFINITY));
    await expect(failed).rejects.toBe(throttled);
    expect(setup.calls).toContain('push 3');
    expect(setup.calls).not.toContain('delivered');
  });
});

describe('a fault', () => {
  const fault = new Error('database fault');

  function failingFrom(chunk: number) {
    const setup = deliverySetup({ audience: recipients(8) });
    const { audiences } = setup.deps;
    let reads = 0;
    const everyone: typeof audiences.everyone = async (...args) => {
      reads += 1;
      if (reads >= chunk) throw fault;
      return audiences.everyone(...args);
    };
    return { setup, deps: { ...setup.deps, audiences: { ...audiences, everyone } } };
  }

  test('before the first claim stores nothing', async () => {
    const { setup, deps } = failingFrom(1);
    expect(await setup.runHere({}, deps)).toMatchObject({ error: fault });
    expect(await setup.stored()).toBeUndefined();
  });

  test('keeps the counts of earlier chunks', async () => {
    const { setup, deps } = failingFrom(2);
    const left = await setup.runHere(quarters, deps);
    // The request tries again.
    expect(left).toMatchObject({ hasEnded: false, error: fault });
    expect(await setup.stored()).toMatchObject({ isRead: false, counts: { attempted: 2 } });
  });

  test('is thrown if nobody waits, so that Lambda repeats the invocation', async () => {
    const { setup, deps } = failingFrom(2);
    await expect(setup.run(quarters, 'mine', deps)).rejects.toBe(fault);
    expect(await setup.stored()).toMatchObject({ ended: undefined, counts: { attempted: 2 } });
  });
});

describe('a slice that is stopped', () => {
  const stop = ({ slices, time }: DeliverySetup, ms: number) =>
    time.at(startMs + ms, () => void slices.stop(slice(), startMs + ms));

  test.each([
    ['with the next claim', 1500, 900, 1800, 4],
    ['with the next write', 500, 10_000, 2000, 2],
  ])('is noticed %s: no push starts later', async (_, stopMs, chunkMs, noticedMs, pushed) => {
    const setup = deliverySetup({ audience: recipients(8), chunkMs });
    stop(setup, stopMs);
    await setup.run(quarters);
    expect(setup.stops[0]).toBe(noticedMs);
    expect(setup.pushed()).toHaveLength(pushed);
    expect(await setup.stored()).toMatchObject({
      ...{ stoppedAt: startMs + stopMs, ended: 'delivered', isRead: false, pending: 0 },
      counts: { attempted: pushed, delivered: pushed },
    });
    expect(setup.calls.at(-1)).toBe('delivered, stopped');
  });

  test.each([awaited, {}])(
    'allows pushes for 4.5 s after the last write before it: %j',
    async (change) => {
      const setup = deliverySetup({ audience: recipients(8), chunkMs: 10_000 });
      stop(setup, 2500);
      const running = setup.startSlice(change);
      for (const ms of [2500, 5500]) {
        await setup.until(ms);
        expect(setup.chunks[0]!.times.pausesAt).toBe(startMs + 2000 + 4500);
      }
      await setup.time.until(running);
    },
  );

  test('before anyone has leased it is not delivered, and its event is consumed', async () => {
    const setup = deliverySetup({ audience: recipients(8) });
    await setup.slices.stop(slice(), startMs);
    await setup.run(quarters);
    expect(setup.pushed()).toEqual([]);
    expect(await setup.stored()).toMatchObject({ stoppedAt: startMs, counts: noCounts });
  });
});

describe('an invocation that has lost its slice', () => {
  test.each([
    ['with the next claim', 1000, 1000],
    ['with the next write', 10_000, 2000],
  ])('notices it %s, and stops its pushes', async (_, chunkMs, noticedMs) => {
    const setup = deliverySetup({ audience: recipients(4), chunkMs });
    setup.time.at(startMs + 500, () => {
      const known = { by: 'mine/1', n: 1 };
      const progress = {
        known,
        position: positionCount,
        isRead: true,
        ended: 'delivered' as const,
      };
      void setup.slices.write(slice(), writeOf('other', 1, progress));
    });
    await setup.run({ step: positionCount / 2 });
    expect(setup.stops[0]).toBe(noticedMs);
    expect(setup.chunks).toHaveLength(1);
  });
});

describe('a project that is deleted or paused meanwhile', () => {
  const successor = { ...project, ref: 'shop-2' as typeof project.ref };

  test.each([
    ['is gone', undefined],
    ['was created again', successor],
  ])('%s: pushes end within 2 s, and the slice with them', async (_, found) => {
    let isDeleted = false;
    const projects = { refresh: async () => (isDeleted ? found : project) };
    const setup = deliverySetup({
      audience: recipients(8),
      chunkMs: 5000,
      overrides: { projects },
    });
    setup.time.at(startMs + 500, () => {
      isDeleted = true;
    });
    await setup.run(quarters);
    expect(setup.stops[0]).toBe(2000);
    expect(setup.pushed()).toHaveLength(2);
    expect(await setup.stored()).toMatchObject({ ended: 'delivered', isRead: false });
  });

  test('is paused: pushes wait until it is resumed', async () => {
    let found: typeof project & { pausedAt?: string } = project;
    const setup = deliverySetup({
      ...{ audience: recipients(3), chunkMs: 20_000 },
      overrides: { projects: { refresh: async () => found } },
    });
    setup.time.at(startMs + 500, () => {
      found = { ...project, pausedAt: '2026-11-29T00:00:00Z' };
    });
    setup.time.at(startMs + 15_000, () => {
      found = project;
    });
    const running = setup.startSlice();
    await setup.until(10_000);
    expect(setup.chunks[0]!.times.pausesAt).toBe(startMs + 4500);
    await setup.until(17_000);
    expect(setup.chunks[0]!.times.pausesAt).toBeGreaterThan(startMs + 15_000);
    await setup.time.until(running);
  });

  test('pauses pushes while nobody can read whether it exists', async () => {
    let reads = 0;
    const refresh = async () => {
      reads += 1;
      // The first read is that of the invocation.
      if (reads > 1) throw new Error('throttled');
      return project;
    };
    const setup = deliverySetup({
      ...{ audience: recipients(3), chunkMs: 20_000, overrides: { projects: { refresh } } },
    });
    const running = setup.startSlice();
    await setup.until(10_000);
    expect(setup.chunks[0]!.times.pausesAt).toBe(startMs + 4500);
    await setup.time.until(running);
  });
});

describe('a slice that another invocation has', () => {
  test('is left to it if a caller waits', async () => {
    const setup = deliverySetup({ audience: recipients(3), chunkMs: 15_000 });
    const other = setup.startSlice(awaited, 'other');
    await setup.until(1000);
    const before = await setup.stored();
    await setup.run(awaited);
    expect(await setup.stored()).toEqual(before);
    await setup.time.until(other);
  });

  test('leaves its event to Lambda if the time is over before', async () => {
    const setup = deliverySetup({ audience: recipients(3), chunkMs: 300_000 });
    const other = setup.startSlice({}, 'other');
    await setup.until(1000);
    await expect(setup.run({}, 'mine', setup.deps, 200_000)).rejects.toThrow(
      'Lambda repeats this one',
    );
    await setup.time.until(other);
  });
});

/** The same dependencies, whose reads of an audience are counted. */
function counting({ deps }: DeliverySetup) {
  let reads = 0;
  const { audiences } = deps;
  const everyone: typeof audiences.everyone = (...call) => {
    reads += 1;
    return audiences.everyone(...call);
  };
  return { deps: { ...deps, audiences: { ...audiences, everyone } }, reads: () => reads };
}

describe('an event that arrives twice', () => {
  test.each<[string, Partial<StoredSlice>]>([
    ['has ended', { ended: 'delivered' }],
    ['was stopped', { stoppedAt: startMs }],
    ['has a lease', {}],
  ])('of a slice that %s reads no recipients and creates no counters', async (_, change) => {
    const setup = deliverySetup({ audience: recipients(8) });
    await setup.slices.write(slice(), writeOf('other', 1, { until: startMs + 300_000, ...change }));
    if (change.stoppedAt !== undefined) await setup.slices.stop(slice(), startMs);
    const { deps, reads } = counting(setup);
    await setup.run({}, 'twice', deps, 120_000).catch(() => {});
    expect(reads()).toBe(0);
    expect(setup.calls).toEqual([]);
  });

  test('of a slice whose caller no longer waits reads nothing', async () => {
    const setup = deliverySetup({ audience: recipients(8) });
    const find = jest.fn(setup.slices.find);
    await setup.until(23_000);
    await setup.run(awaited, 'late', { ...setup.deps, slices: { ...setup.deps.slices, find } });
    expect(find).not.toHaveBeenCalled();
    expect(await setup.stored()).toBeUndefined();
  });
});

test('an invocation that takes its slice back counts everybody once', async () => {
  const setup = deliverySetup({ audience: recipients(8) });
  // A duplicate takes the slice over after two of eight, claims two more and dies.
  setup.time.at(startMs + 500, () => {
    const counts = { ...noCounts, attempted: 2, delivered: 2 };
    const progress = { position: positionCount / 2, claimed: 4, counts, until: startMs + 20_000 };
    const known = { by: 'mine/1', n: 1 };
    void setup.slices.write(slice(), writeOf('other', 1, { known, ...progress }));
  });
  await setup.run(quarters);
  expect(setup.pushed()).toEqual(['/0', '/1', '/4', '/5', '/6', '/7']);
  expect(await setup.stored()).toMatchObject({
    ...{ ended: 'delivered', claimed: 8, pending: 0 },
    counts: { attempted: 8, delivered: 6, failed: 2, failures: { interrupted: 2 } },
  });
});

describe('a slice that nobody waits for', () => {
  /** A store whose calls fail for so long. */
  function throttledFor(ms: number, { deps, time }: DeliverySetup): DeliverySetup['deps'] {
    const { audiences, slices } = deps;
    const orThrow = <Result>(call: () => Promise<Result>) =>
      time.now < startMs + ms ? Promise.reject(throttled) : call();
    return {
      ...deps,
      audiences: { ...audiences, everyone: (...one) => orThrow(() => audiences.everyone(...one)) },
      slices: {
        find: (...one) => orThrow(() => slices.find(...one)),
        write: (...one) => orThrow(() => slices.write(...one)),
      },
    };
  }

  test('needs one attempt of Lambda, also if the database fails for minutes', async () => {
    const setup = deliverySetup({ audience: recipients(8) });
    await setup.run(quarters, 'mine', throttledFor(300_000, setup));
    expect(await setup.stored()).toMatchObject({ ended: 'delivered', counts: { delivered: 8 } });
  });

  test('is continued after a read that fails between two chunks', async () => {
    const setup = deliverySetup({ audience: recipients(8) });
    const { audiences } = setup.deps;
    let reads = 0;
    const everyone: typeof audiences.everyone = (...call) => {
      reads += 1;
      return reads === 2 ? Promise.reject(throttled) : audiences.everyone(...call);
    };
    await setup.run(quarters, 'mine', { ...setup.deps, audiences: { ...audiences, everyone } });
    expect(await setup.stored()).toMatchObject({ ended: 'delivered', counts: { delivered: 8 } });
  });

  test('is claimed once, although its event counter cannot be created at first', async () => {
    const setup = deliverySetup({ audience: recipients(3) });
    let tries = 0;
    const create: typeof setup.deps.eventCounters.create = async () => {
      tries += 1;
      if (tries < 60) throw throttled;
    };
    const running = setup.startSlice({}, 'mine', { ...setup.deps, eventCounters: { create } });
    await setup.until(70_000);
    // The claim is extended meanwhile.
    expect(await setup.stored()).toMatchObject({ claimed: 3, pending: 3, lease: { by: 'mine/1' } });
    expect((await setup.stored())!.lease!.until).toBeGreaterThan(startMs + 100_000);
    await setup.time.until(running);
    expect(await setup.stored()).toMatchObject({ ended: 'delivered', counts: { delivered: 3 } });
  });
});

describe('a slice of which nobody was attempted when its time was over', () => {
  const unreached = { ...noCounts, unreached: 8 };

  test('is claimed by nobody, and the next attempt sends to everyone', async () => {
    const setup = deliverySetup({ audience: recipients(8), counts: unreached, chunkMs: 890_000 });
    await expect(setup.run()).rejects.toThrow('the next attempt continues');
    expect(await setup.stored()).toMatchObject({
      ...{ ended: undefined, isRead: false, claimed: 0, counts: noCounts },
      behind: { apple: { passed: 8 } },
    });
    const next = fakePusher(({ recipients }) => ({
      done: Promise.resolve(allDelivered({ recipients })),
      soFar: () => noCounts,
    }));
    await setup.run({}, 'next', { ...setup.deps, startPushing: next });
    expect(await setup.stored()).toMatchObject({
      ...{ ended: 'delivered', isRead: true, behind: undefined, counts: { delivered: 8 } },
    });
  });

  test('is ended for a caller who waits, if an earlier request has attempted somebody', async () => {
    const setup = deliverySetup({ audience: recipients(8), counts: unreached, chunkMs: 22_000 });
    const progress = { position: positionCount / 2, claimed: 4, counts: allOf(4), until: 0 };
    await setup.slices.write(slice(), writeOf('earlier', 1, progress));
    await setup.run(awaited, 'later');
    expect(await setup.stored()).toMatchObject({
      ...{ claimed: 8, counts: { ...allOf(4), unreached: 4 }, ended: 'delivered', isRead: true },
    });
  });
});

const allOf = (count: number) => ({ ...noCounts, attempted: count, delivered: count });

test('the end of a slice that was stopped is not stored after its lease, when its counts are final', async () => {
  const setup = deliverySetup({ audience: recipients(8), chunkMs: 200_000 });
  const { slices } = setup.deps;
  const write: typeof slices.write = (...call) =>
    setup.time.now > startMs + 1000 && setup.time.now < startMs + 190_000
      ? Promise.reject(throttled)
      : slices.write(...call);
  const cutOff = { ...setup.deps, slices: { ...slices, write } };
  const running = setup.startSlice({}, 'mine', cutOff).catch(() => {});
  await setup.until(100_000);
  await setup.slices.stop(slice(), startMs + 100_000);
  const before = await setup.stored();
  await setup.time.until(running);
  expect(await setup.stored()).toEqual(before);
});

describe('a slice whose function has died', () => {
  /** A function that dies after 4 s: from then on it neither wakes up nor writes. */
  function dyingDependencies({ deps, time }: DeliverySetup): DeliverySetup['deps'] {
    const orNever = <Result>(work: Promise<Result>) =>
      work.then((result) => (time.now >= startMs + 4000 ? new Promise<Result>(() => {}) : result));
    return { ...deps, sleep: (ms, signal) => orNever(deps.sleep(ms, signal)) };
  }

  /** It dies in the second of four chunks, after one of its two pushes. */
  async function died() {
    const setup = deliverySetup({ audience: recipients(8) });
    const startPushing = fakePusher((chunk) =>
      chunk.recipients[0]!.path === '/2'
        ? { ...setup.push(chunk), ...dying({ ...noCounts, attempted: 1, delivered: 1 }) }
        : setup.push(chunk),
    );
    void setup
      .startSlice(quarters, 'dead', { ...dyingDependencies(setup), startPushing })
      .catch(() => {});
    await setup.until(5000);
    return setup;
  }
  const continued = {
    ...noCounts,
    ...{ attempted: 8, delivered: 7, failed: 1, failures: { interrupted: 1 } },
  };

  test('is taken over after its lease and a second for the clocks, also by a repetition that comes at once', async () => {
    const setup = await died();
    await setup.run(quarters);
    // The last write was after 2 s.
    const [third] = setup.chunks.slice(2);
    expect(third!.readAt).toBeGreaterThanOrEqual(startMs + 2000 + 60_000 + 1000);
    expect(await setup.stored()).toMatchObject({ counts: continued });
  });

  test('keeps which users it has reached, and adds others', async () => {
    const userIds = [...'abcdefghi'];
    const setup = deliverySetup({ userIds });
    const startPushing = fakePusher((chunk) => {
      if (chunk.recipients[0]!.path !== 'c') return setup.push(chunk);
      // One of the two pushes of the second chunk is delivered before the function dies.
      chunk.onDelivered?.(chunk.recipients[1]!);
      return { ...setup.push(chunk), ...dying({ ...noCounts, attempted: 1, delivered: 1 }) };
    });
    const users = { userIds, from: 0, to: 9, step: 2 };
    const dead = { ...dyingDependencies(setup), startPushing };
    void setup.startSlice(users, 'dead', dead).catch(() => {});
    await setup.until(5000);
    await setup.run(users);
    // Only c is not known to be reached.
    expect((await setup.stored())!.reached).toEqual(Uint8Array.of(0b1111_1011, 0b1));
  });

  test('is only ended if all its recipients were read', async () => {
    const setup = deliverySetup({ audience: recipients(3) });
    const dead = { ...dyingDependencies(setup), startPushing: fakePusher(() => dying()) };
    void setup.startSlice({}, 'dead', dead).catch(() => {});
    await setup.until(5000);
    await setup.run();
    expect(setup.pushed()).toEqual([]);
    expect(await setup.stored()).toMatchObject({
      ...{ ended: 'delivered', pending: 0 },
      counts: { attempted: 3, failed: 3, failures: { interrupted: 3 } },
    });
  });
});
