import { noCounts } from '../../../contract/wire/counts.ts';
import { positionCount } from '../../../lambdas/store/items.ts';
import type { StoredSlice } from '../../../lambdas/store/slices.ts';
import { writeOf } from '../store/stored-notifications.ts';
import {
  allDelivered,
  awaited,
  type DeliverySetup,
  deliverySetup,
  dying,
  recipients,
  slice,
  startMs,
  throttled,
} from './delivery-setup.ts';
import { fakePusher } from './fake-pusher.ts';

const quarters = { step: positionCount / 4 };

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
  ])('of a slice that %s reads no recipients and opens no counters', async (_, change) => {
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
    const known = { by: 'mine', n: 1 };
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

  test('is claimed once, although its event counter cannot be opened at first', async () => {
    const setup = deliverySetup({ audience: recipients(3) });
    let tries = 0;
    const open: typeof setup.deps.eventCounters.open = async () => {
      tries += 1;
      if (tries < 60) throw throttled;
    };
    const running = setup.startSlice({}, 'mine', { ...setup.deps, eventCounters: { open } });
    await setup.until(70_000);
    // The claim is extended meanwhile.
    expect(await setup.stored()).toMatchObject({ claimed: 3, pending: 3, lease: { by: 'mine' } });
    expect((await setup.stored())!.lease!.until).toBeGreaterThan(startMs + 100_000);
    await setup.time.until(running);
    expect(await setup.stored()).toMatchObject({ ended: 'delivered', counts: { delivered: 3 } });
  });
});

describe('a slice of which nobody was attempted when its time was over', () => {
  const unreached = { ...noCounts, unreached: 8 };

  test('is given back as it was found, and the next attempt sends to everyone', async () => {
    const setup = deliverySetup({ audience: recipients(8), counts: unreached, chunkMs: 890_000 });
    await expect(setup.run()).rejects.toThrow('the next attempt continues');
    expect(await setup.stored()).toMatchObject({
      ...{ ended: undefined, position: 0, isRead: false, claimed: 0 },
      counts: noCounts,
    });
    const next = fakePusher(({ recipients }) => ({
      done: Promise.resolve(allDelivered({ recipients })),
      soFar: () => noCounts,
    }));
    await setup.run({}, 'next', { ...setup.deps, startPushing: next });
    expect(await setup.stored()).toMatchObject({ ended: 'delivered', counts: { delivered: 8 } });
  });

  test('is given back by a request too, which continues from an earlier one', async () => {
    const setup = deliverySetup({ audience: recipients(8), counts: unreached, chunkMs: 22_000 });
    const progress = { position: positionCount / 2, claimed: 4, counts: allOf(4), until: 0 };
    await setup.slices.write(slice(), writeOf('earlier', 1, progress));
    await setup.run(awaited, 'later');
    expect(await setup.stored()).toMatchObject({
      ...{ position: positionCount / 2, claimed: 4, counts: allOf(4), ended: undefined },
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
