import { noCounts } from '../../../contract/counts.ts';
import type { Share } from '../../../contract/share.ts';
import { deliverShare, prepareShare } from '../../../lambdas/deliver/deliver-share.ts';
import {
  delivering,
  type InvocationOutcome,
  type RunDependencies,
  runShares,
  startShares,
} from '../../../lambdas/send/run-shares.ts';
import { positionCount } from '../../../lambdas/store/subscription-keys.ts';
import { fakePusher } from '../deliver/fake-pusher.ts';
import {
  allDelivered,
  dying,
  invocation,
  project,
  recipients,
  recordedShareDependencies,
  share,
  startMs,
} from '../deliver/recorded-share-dependencies.ts';

const audience = recipients(9);
const everyone = audience.map(({ path }) => path);

/** Three shares of three recipients. */
const shares = [0, 1, 2].map((index) =>
  share({
    from: Math.floor((positionCount * index) / 3),
    to: Math.floor((positionCount * (index + 1)) / 3),
    firstTally: index,
  }),
);

type Invoke = (share: Share, type: 'sync' | 'async', attempt: number) => Promise<InvocationOutcome>;

/** Dependencies whose functions behave as given. `working` is a function that delivers its share. */
function setUp(invoke: (working: Invoke) => Invoke, overrides: Partial<RunDependencies> = {}) {
  const recorded = recordedShareDependencies(audience, overrides);
  const invoked: { readonly tally: number; readonly type: string; readonly at: number }[] = [];
  const working: Invoke = async (one, type) => {
    if (type === 'async') return { kind: 'accepted' };
    const by = { id: `function ${one.firstTally}`, endsAt: startMs + 29_000 };
    const outcome = await deliverShare(recorded.deps, project, one, by);
    return outcome.kind === 'ended'
      ? { kind: 'result', result: outcome.result }
      : { kind: 'unknown' };
  };
  const deps: RunDependencies = {
    ...recorded.deps,
    invoker: {
      invoke(one, type) {
        invoked.push({ tally: one.firstTally, type, at: recorded.time.now });
        const attempt = invoked.filter(({ tally }) => tally === one.firstTally).length;
        return invoke(working)(one, type, attempt);
      },
    },
    random: () => 0.5,
    ...overrides,
  };
  return { ...recorded, deps, invoked };
}

function run({ deps, time, begin }: ReturnType<typeof setUp>, by = invocation) {
  const [first, ...others] = shares;
  return time.until(
    prepareShare(deps, project, first!, delivering(by)).then((prepared) => {
      begin(prepared.tallies);
      return runShares(deps, project, prepared, others, by);
    }),
  );
}

const delivered = { ...noCounts, attempted: 3, delivered: 3, isComplete: true };
const throttled = async () => ({ kind: 'throttled' }) as const;

describe('shares for a caller who waits', () => {
  test('are delivered at the same time: the first one here, the others in functions', async () => {
    const setup = setUp((working) => working);
    const outcome = await run(setup);
    expect(outcome).toEqual({
      results: [delivered, delivered, delivered],
      error: undefined,
      isUnknown: false,
    });
    expect(setup.invoked.map(({ tally }) => tally)).toEqual([1, 2]);
    // A chunk takes 1 s.
    expect(setup.time.now).toBe(1000);
    expect(setup.pushed().toSorted()).toEqual(everyone);
  });
});

describe('a throttled invocation', () => {
  test('is repeated with growing pauses', async () => {
    const setup = setUp(
      (working) => (one, type, attempt) =>
        attempt < 4 ? throttled() : working(one, type, attempt),
    );
    expect((await run(setup))?.results).toEqual([delivered, delivered, delivered]);
    const times = setup.invoked.filter(({ tally }) => tally === 1).map(({ at }) => at);
    expect(times).toEqual([0, 75, 225, 525]);
    expect(setup.calls).not.toContain('throttled 1');
  });

  test('is given up within 3 s, and its share is delivered here', async () => {
    const setup = setUp(() => throttled);
    const outcome = await run(setup);
    expect(outcome).toEqual({
      results: [delivered, delivered, delivered],
      error: undefined,
      isUnknown: false,
    });
    expect(setup.pushed()).toEqual(everyone);
    expect(setup.calls).toEqual(expect.arrayContaining(['throttled 1', 'throttled 2']));
    expect(Math.max(...setup.invoked.map(({ at }) => at))).toBeLessThanOrEqual(3000);
  });

  test('leaves subscribers unreached where the time ends', async () => {
    const setup = setUp(() => throttled);
    await setup.time.until(setup.time.sleep(21_500));
    const outcome = await run(setup);
    expect(
      outcome?.results.map(({ attempted, isComplete }) => ({ attempted, isComplete })),
    ).toEqual([
      { attempted: 3, isComplete: true },
      { attempted: 0, isComplete: false },
      { attempted: 0, isComplete: false },
    ]);
  });
});

describe('a function that dies', () => {
  const diesIn =
    (tally: number, dies: Invoke) =>
    (working: Invoke) =>
    (one: Share, type: 'sync' | 'async', attempt: number) =>
      one.firstTally === tally ? dies(one, type, attempt) : working(one, type, attempt);

  test('before it claims its share leaves it to this one', async () => {
    const setup = setUp(diesIn(1, async () => ({ kind: 'died' })));
    expect((await run(setup))?.results).toEqual([delivered, delivered, delivered]);
    expect(setup.pushed().toSorted()).toEqual(everyone);
  });

  test('during a chunk leaves the counts that it stored, and nobody is pushed to twice', async () => {
    const setup = setUp(
      diesIn(1, async (one) => {
        const soFar = { ...noCounts, attempted: 1, delivered: 1 };
        const startPushing = fakePusher(() => dying(soFar));
        const dead = { ...setup.deps, startPushing };
        void deliverShare(dead, project, one, { ...invocation, id: 'dead' });
        await setup.time.sleep(2500);
        return { kind: 'died' };
      }),
    );
    const outcome = await run(setup);
    expect(outcome?.results).toEqual([
      delivered,
      {
        ...noCounts,
        ...{ attempted: 3, delivered: 1, failed: 2, failures: { interrupted: 2 } },
        // All its recipients were read.
        isComplete: true,
      },
      delivered,
    ]);
    expect(setup.time.now).toBeLessThan(3000);
    expect(setup.pushed()).toHaveLength(6);
  });
});

describe('a lost response', () => {
  /** The function of the second share delivers it in 3 s, and its response is lost. */
  function setUpLost() {
    const setup = setUp((working) => async (one, type, attempt) => {
      if (one.firstTally !== 1) return working(one, type, attempt);
      const startPushing = fakePusher((chunk) => ({
        ...setup.push(chunk),
        done: setup.time.sleep(3000).then(() => allDelivered(chunk)),
      }));
      const deps = { ...setup.deps, startPushing };
      void deliverShare(deps, project, one, { ...invocation, id: 'slow' });
      await setup.time.sleep(100);
      return { kind: 'unknown' };
    });
    return setup;
  }

  test('of a function that ends later: its counts are read from the tally', async () => {
    const setup = setUpLost();
    expect((await run(setup))?.results).toEqual([delivered, delivered, delivered]);
    expect(setup.pushed().toSorted()).toEqual(everyone);
    expect(setup.time.now).toBeLessThan(4000);
  });

  test('of a function that does not end: the counts at the end of the time', async () => {
    const setup = setUp((working) => async (one, type, attempt) => {
      if (one.firstTally !== 1) return working(one, type, attempt);
      const dead = { ...setup.deps, startPushing: fakePusher(() => dying()) };
      void deliverShare(dead, project, one, { ...invocation, id: 'dead' });
      await setup.time.sleep(100);
      return { kind: 'unknown' };
    });
    const outcome = await run(setup);
    expect(outcome?.results[1]).toMatchObject({ failures: { interrupted: 3 }, isComplete: true });
    expect(setup.time.now).toBeGreaterThan(25_000);
    expect(setup.time.now).toBeLessThan(27_000);
  });

  test('is also replaced by the tally if the first look at it fails', async () => {
    const setup = setUpLost();
    const { tallies } = setup.deps;
    const find = jest.fn(tallies.find).mockRejectedValueOnce(new Error('database fault'));
    const deps = { ...setup.deps, tallies: { ...tallies, find } };
    expect((await run({ ...setup, deps }))?.results).toEqual([delivered, delivered, delivered]);
  });

  test('and a tally that cannot be read: the counts of the other shares are returned', async () => {
    const fault = new Error('database fault');
    const setup = setUpLost();
    const find = () => Promise.reject(fault);
    const deps = {
      ...setup.deps,
      tallies: { ...setup.deps.tallies, find },
    };
    expect(await run({ ...setup, deps })).toEqual({
      results: [delivered, { ...noCounts, isComplete: false }, delivered],
      error: undefined,
      isUnknown: true,
    });
  });
});

describe('shares that Lambda throttles for seconds', () => {
  // A later project of the same id may have other subscribers by then.
  const successor = { ...project, createdAt: '2026-11-20T12:00:01.000Z' };
  const allRefused = () => setUp(() => throttled, { projects: { refresh: async () => successor } });

  test('are not delivered to another project of the same id, for a caller who waits', async () => {
    const setup = allRefused();
    await run(setup);
    expect(setup.pushed()).toEqual(['/0', '/1', '/2']);
  });

  test('are not delivered to another project of the same id, for one who does not', async () => {
    const setup = allRefused();
    const deadline = shares[0]!.deadline!;
    await setup.time.until(startShares(setup.deps, project, shares, deadline, invocation));
    expect(setup.pushed()).toEqual([]);
  });
});

describe('shares for a caller who does not wait', () => {
  const deadline = { lastPushAt: startMs + 22_000, endAt: startMs + 25_000 };
  const unlimited = shares.map((one) => ({ ...one, deadline: undefined }));

  function start({ deps, time }: ReturnType<typeof setUp>) {
    return time.until(startShares(deps, project, unlimited, deadline, invocation));
  }

  test('are all handed to functions', async () => {
    const setup = setUp((working) => working);
    await start(setup);
    expect(setup.invoked).toEqual([0, 1, 2].map((tally) => ({ tally, type: 'async', at: 0 })));
    expect(setup.pushed()).toEqual([]);
  });

  test.each(['throttled', 'unknown'] as const)('are invoked again if that is %s', async (kind) => {
    const setup = setUp(
      (working) => async (one, type, attempt) =>
        attempt === 1 ? { kind } : working(one, type, attempt),
    );
    await start(setup);
    expect(setup.invoked).toHaveLength(6);
    expect(setup.pushed()).toEqual([]);
  });

  test('count as started if an invocation may be queued, although Lambda throttles the next', async () => {
    const setup = setUp(() => async (_, __, attempt) => ({
      kind: attempt === 1 ? 'unknown' : 'throttled',
    }));
    const everyone = () => Promise.reject(new Error('throttled'));
    const deps = {
      ...setup.deps,
      audiences: { ...setup.deps.audiences, everyone },
    };
    expect(await start({ ...setup, deps })).toMatchObject({ isStarted: true });
    expect(setup.pushed()).toEqual([]);
  });

  test('are delivered here until the deadline if Lambda throttles them', async () => {
    const setup = setUp(
      (working) => (one, type, attempt) =>
        one.firstTally === 1 ? throttled() : working(one, type, attempt),
    );
    const { isStarted, results } = await start(setup);
    expect(isStarted).toBe(true);
    expect(results).toMatchObject([{ attempted: 3, isComplete: true }]);
    expect(setup.pushed()).toEqual(['/3', '/4', '/5']);
    expect(setup.chunks[0]).toMatchObject(deadline);
    expect(setup.calls).toContain('throttled 1');
  });
});
