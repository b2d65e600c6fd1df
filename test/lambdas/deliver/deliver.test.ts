import { noCounts } from '../../../contract/counts.ts';
import { positionCount } from '../../../lambdas/store/subscription-keys.ts';
import {
  awaited,
  type DeliverySetup,
  deliverySetup,
  dying,
  recipients,
  startMs,
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
