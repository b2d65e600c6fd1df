import { noCounts } from '../../../contract/counts.ts';
import type { SigningProject } from '../../../contract/project.ts';
import { positionCount } from '../../../lambdas/store/subscription-keys.ts';
import { fakePusher } from './fake-pusher.ts';
import {
  allDelivered,
  awaited,
  dying,
  project,
  recipients,
  type SliceSetup,
  slice,
  sliceSetup,
  startMs,
} from './slice-setup.ts';

const quarters = { step: positionCount / 4 };

describe('a slice that another invocation has', () => {
  test('is left to it if a caller waits', async () => {
    const setup = sliceSetup({ audience: recipients(3), chunkMs: 15_000 });
    const other = setup.start(awaited, 'other');
    await setup.until(1000);
    const before = await setup.stored();
    await setup.run(awaited);
    expect(await setup.stored()).toEqual(before);
    await setup.time.until(other);
  });

  test('is awaited if nobody waits, however long it takes, so that the event stays until it has ended', async () => {
    const setup = sliceSetup({ audience: recipients(3), chunkMs: 300_000 });
    const other = setup.start({}, 'other');
    await setup.until(1000);
    await setup.run();
    expect(setup.time.now).toBeGreaterThanOrEqual(startMs + 300_000);
    expect(setup.pushed()).toHaveLength(3);
    await setup.time.until(other);
  });

  test('leaves its event to Lambda if the time is over before', async () => {
    const setup = sliceSetup({ audience: recipients(3), chunkMs: 300_000 });
    const other = setup.start({}, 'other');
    await setup.until(1000);
    await expect(setup.run({}, 'mine', setup.deps, 200_000)).rejects.toThrow(
      'Lambda repeats this one',
    );
    await setup.time.until(other);
  });

  test('and has ended is not delivered again', async () => {
    const setup = sliceSetup({ audience: recipients(3) });
    await setup.run({}, 'other');
    const before = await setup.stored();
    await setup.run();
    expect(await setup.stored()).toEqual(before);
    expect(setup.pushed()).toHaveLength(3);
    expect(setup.calls.filter((call) => call === 'delivered')).toHaveLength(1);
  });
});

describe('a slice whose function has died', () => {
  /** A function that dies after 4 s: from then on it neither wakes up nor writes. */
  function dyingDependencies({ deps, time }: SliceSetup): SliceSetup['deps'] {
    const orNever = <Result>(work: Promise<Result>) =>
      work.then((result) => (time.now >= startMs + 4000 ? new Promise<Result>(() => {}) : result));
    return { ...deps, sleep: (ms, signal) => orNever(deps.sleep(ms, signal)) };
  }

  /** It dies in the second of four chunks, after one of its two pushes. */
  async function died() {
    const setup = sliceSetup({ audience: recipients(8) });
    const startPushing = fakePusher((chunk) =>
      chunk.recipients[0]!.path === '/2'
        ? { ...setup.push(chunk), ...dying({ ...noCounts, attempted: 1, delivered: 1 }) }
        : setup.push(chunk),
    );
    void setup
      .start(quarters, 'dead', { ...dyingDependencies(setup), startPushing })
      .catch(() => {});
    await setup.until(5000);
    return setup;
  }
  const continued = {
    ...noCounts,
    ...{ attempted: 8, delivered: 7, failed: 1, failures: { interrupted: 1 } },
  };

  test('continues after its chunk, whose other pushes count as interrupted', async () => {
    const setup = await died();
    await setup.until(100_000);
    await setup.run(quarters);
    expect(await setup.stored()).toMatchObject({
      counts: continued,
      ended: 'delivered',
      pending: 0,
    });
    expect(setup.pushed()).toEqual(recipients(8).map(({ path }) => path));
  });

  test('is taken over after its lease and a second for the clocks, also by a repetition that comes at once', async () => {
    const setup = await died();
    await setup.run(quarters);
    // The last write was after 2 s.
    const [third] = setup.chunks.slice(2);
    expect(third!.readAt).toBeGreaterThanOrEqual(startMs + 2000 + 60_000 + 1000);
    expect(await setup.stored()).toMatchObject({ counts: continued });
  });

  test('is continued by one of two invocations', async () => {
    const setup = await died();
    await setup.time.until(Promise.all(['one', 'other'].map((by) => setup.start(quarters, by))));
    expect(setup.calls.filter((call) => call === 'delivered')).toHaveLength(1);
    expect(setup.pushed()).toEqual(recipients(8).map(({ path }) => path));
  });

  test('keeps which users it has reached, and adds others', async () => {
    const setup = sliceSetup();
    const startPushing = fakePusher((chunk) => {
      if (chunk.recipients[0]!.path !== 'c') return setup.push(chunk);
      // One of the two pushes of the second chunk is delivered before the function dies.
      chunk.onDelivered?.(chunk.recipients[1]!);
      return { ...setup.push(chunk), ...dying({ ...noCounts, attempted: 1, delivered: 1 }) };
    });
    const users = { userIds: [...'abcdefghi'], from: 0, to: 9, step: 2 };
    const dead = { ...dyingDependencies(setup), startPushing };
    void setup.start(users, 'dead', dead).catch(() => {});
    await setup.until(5000);
    await setup.run(users);
    // Only c is not known to be reached.
    expect((await setup.stored())!.reached).toEqual(Uint8Array.of(0b1111_1011, 0b1));
  });

  test('is only ended if all its recipients were read', async () => {
    const setup = sliceSetup({ audience: recipients(3) });
    const dead = { ...dyingDependencies(setup), startPushing: fakePusher(() => dying()) };
    void setup.start({}, 'dead', dead).catch(() => {});
    await setup.until(5000);
    await setup.run();
    expect(setup.pushed()).toEqual([]);
    expect(await setup.stored()).toMatchObject({
      ...{ ended: 'delivered', pending: 0 },
      counts: { attempted: 3, failed: 3, failures: { interrupted: 3 } },
    });
  });

  test('and that was stopped afterwards is left as it is', async () => {
    const setup = await died();
    await setup.slices.stop(
      { notificationId: slice().notificationId, slice: 0, expiresAt: 1 },
      startMs + 5000,
    );
    await setup.run(quarters);
    expect(setup.pushed()).toHaveLength(4);
    expect(await setup.stored()).toMatchObject({ pending: 1, ended: undefined });
  });
});

describe('an invocation whose lease has run out', () => {
  /** Reading the second chunk takes so long, and the database does not respond to writes meanwhile. */
  function slowReader({ deps, time }: SliceSetup, ms: number): SliceSetup['deps'] {
    let reads = 0;
    return {
      ...deps,
      sleep: (wait, signal) => (wait === 2000 ? new Promise(() => {}) : deps.sleep(wait, signal)),
      audiences: {
        ...deps.audiences,
        everyone: async (...args) => {
          reads += 1;
          if (reads === 2) await time.sleep(ms);
          return deps.audiences.everyone(...args);
        },
      },
    };
  }
  const halves = { step: positionCount / 2 };

  test.each([
    ['pushes nothing once another one has taken the slice over', 63_000, 2],
    ['keeps the slice if it writes before the other one does', 59_500, 0],
  ])('%s', async (_, ms, interrupted) => {
    const setup = sliceSetup({ audience: recipients(4) });
    const slow = setup.start(halves, 'slow', slowReader(setup, ms));
    await setup.until(50_000);
    await setup.run(halves, 'other');
    await setup.time.until(slow);
    expect(await setup.stored()).toMatchObject({
      ...{ ended: 'delivered', counts: { attempted: 4, failed: interrupted } },
    });
    expect(setup.pushed()).toEqual(recipients(4).map(({ path }) => path));
  });
});

test.each<[string, SigningProject | undefined]>([
  ['deleted', undefined],
  ['deleted, and created again', { ...project, ref: 'shop-2' as typeof project.ref }],
])('the slice of a project that was %s is not delivered', async (_, found) => {
  const projects = { refresh: async () => found };
  const setup = sliceSetup({ audience: recipients(3), overrides: { projects } });
  await setup.run();
  expect(setup.calls).toEqual([]);
});

test('a slice of a request that has ended meanwhile is not pushed any more', async () => {
  const setup = sliceSetup({ audience: recipients(3) });
  await setup.until(23_000);
  await setup.run(awaited);
  expect(setup.pushed()).toEqual([]);
});

test('a chunk that is pushed to while its invocation ends is counted', async () => {
  const setup = sliceSetup({ audience: recipients(3), chunkMs: 2000 });
  await setup.run();
  expect((await setup.stored())!.counts).toEqual(allDelivered({ recipients: recipients(3) }));
});
