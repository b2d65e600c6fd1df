import { noCounts } from '../../../contract/counts.ts';
import {
  deliverShare,
  type EndedShare,
  prepareShare,
  type ShareOutcome,
} from '../../../lambdas/deliver/deliver-share.ts';
import { positionCount } from '../../../lambdas/store/subscription-keys.ts';
import { fakePusher } from './fake-pusher.ts';
import {
  allDelivered,
  dying,
  invocation,
  longInvocation,
  project,
  recipients,
  recordedShareDependencies,
  share,
  startMs,
} from './recorded-share-dependencies.ts';

type Setup = ReturnType<typeof recordedShareDependencies>;

const unlimited = { deadline: undefined };
const quarters = { step: positionCount / 4 };

async function run(
  { deps, time }: Setup,
  change: Parameters<typeof share>[0] = {},
  by = invocation,
): Promise<EndedShare> {
  return ended(await time.until(deliverShare(deps, project, share(change), by)));
}

/** @throws what leaves the share to the next attempt. */
function ended(outcome: ShareOutcome): EndedShare {
  if (outcome.kind === 'open') throw outcome.error;
  if (outcome.kind === 'elsewhere') throw new Error('Another invocation has the share.');
  return outcome;
}

/** Tallies that store the claim of a share, and nothing later. */
function failingAfterClaim({ deps: { tallies } }: Setup): Setup['deps']['tallies'] {
  return {
    ...tallies,
    save: async (key, writer, progress, signal) => {
      if (writer.step > 1) throw new Error('throttled');
      return tallies.save(key, writer, progress, signal);
    },
  };
}

/** Dependencies whose chunks take that long. `stops` are the times at which pushes are stopped. */
function stoppable(setup: Setup, chunkMs: number) {
  const stops: number[] = [];
  const start = fakePusher((chunk) => ({
    ...setup.push(chunk),
    done: setup.time.sleep(chunkMs).then(() => allDelivered(chunk)),
  }));
  const startPushing: typeof start = (options) => {
    const pusher = start(options);
    jest.spyOn(pusher, 'stop').mockImplementation(() => void stops.push(setup.time.now));
    return pusher;
  };
  return { stops, deps: { ...setup.deps, startPushing } };
}

/** Dependencies of a function that dies after 4 s: from then on it neither wakes up nor writes. */
function dyingDependencies({ deps, time }: Setup): Setup['deps'] {
  const isDead = () => time.now >= 4000;
  const orNever = <Result>(work: Promise<Result>) =>
    work.then((result) => (isDead() ? new Promise<Result>(() => {}) : result));
  return { ...deps, sleep: (ms, signal) => orNever(deps.sleep(ms, signal)) };
}

async function tallyOf({ deps }: Setup, number = 0) {
  return (await deps.tallies.find(share().notificationId, [number]))[0];
}

describe('a share of one chunk', () => {
  test('is claimed, pushed and ended', async () => {
    const setup = recordedShareDependencies(recipients(3));
    const outcome = await run(setup);
    const counts = { ...noCounts, attempted: 3, delivered: 3 };
    expect(outcome).toEqual({
      kind: 'ended',
      result: { ...counts, isComplete: true },
      error: undefined,
    });
    expect(setup.calls).toEqual([
      `everyone 0-${positionCount}`,
      `claim 0 to ${positionCount}, 3 pending`,
      'deliver 3',
      'save 3 attempted, 0 pending, complete',
      'observe',
    ]);
    expect(await tallyOf(setup)).toMatchObject({ pending: 0, counts, ended: 'complete' });
  });

  test('is recorded as pending before its first push', async () => {
    const push = jest.fn(() => dying());
    const setup = recordedShareDependencies(recipients(3), { startPushing: fakePusher(push) });
    void deliverShare(setup.deps, project, share(), invocation);
    await setup.time.until(setup.time.sleep(500));
    expect(push).toHaveBeenCalledTimes(1);
    expect(await tallyOf(setup)).toMatchObject({
      claim: { by: 'invocation', step: 1, until: startMs + 25_000 + 2000 },
      position: positionCount,
      pending: 3,
      counts: noCounts,
    });
  });

  test('has the deadline, the pace and the keys of its share', async () => {
    const setup = recordedShareDependencies(recipients(3));
    await run(setup);
    expect(setup.chunks[0]).toMatchObject({
      vapid: project.vapid,
      lastPushAt: startMs + 22_000,
      endAt: startMs + 25_000,
      pushesPerSecond: 20_000,
    });
  });

  test('of user ids reads the subscriptions of these', async () => {
    const setup = recordedShareDependencies();
    const userIds = ['u', 'v', 'w'];
    await run(setup, { userIds, from: 0, to: 3, step: 2 });
    expect(setup.calls.filter((call) => call.startsWith('users'))).toEqual([
      'users u,v',
      'users w',
    ]);
    expect(setup.pushed()).toEqual(['u', 'v', 'w']);
  });
});

describe('a prepared share', () => {
  function prepare({ deps }: Setup, change: Parameters<typeof share>[0] = {}) {
    return prepareShare(deps, project, share(change), invocation);
  }

  test('has read its first chunk, and its tallies claim it', async () => {
    const setup = recordedShareDependencies(recipients(8));
    const { tallies } = await setup.time.until(prepare(setup, { ...quarters, tallies: 2 }));
    expect(setup.calls).toEqual(['everyone 0-1073741824']);
    const position = positionCount / 4;
    expect(tallies).toMatchObject([{ claimedBy: 'invocation', position, pending: 2 }, {}]);
    expect(tallies.map(({ tally }) => tally.at(-1))).toEqual(['0', '1']);
  });

  test('pushes to that chunk without another claim, and continues with the others', async () => {
    const setup = recordedShareDependencies(recipients(8));
    const prepared = await setup.time.until(prepare(setup, quarters));
    setup.begin(prepared.tallies);
    const { result } = await setup.time.until(prepared.deliver());
    expect(result).toEqual({ ...noCounts, attempted: 8, delivered: 8, isComplete: true });
    expect(setup.calls.filter((call) => call.startsWith('claim'))).toHaveLength(4);
    expect(setup.calls.filter((call) => call.startsWith('everyone'))).toHaveLength(4);
    expect((await tallyOf(setup))!.counts).toMatchObject({ delivered: 8 });
  });

  test('has read the key pairs again if a recipient has a newer one', async () => {
    const [first] = recipients(1);
    const setup = recordedShareDependencies([{ ...first!, vapidPairNumber: 1 }]);
    await setup.time.until(prepare(setup));
    expect(setup.calls).toEqual(['everyone 0-4294967296', 'refresh']);
  });

  test('is not delivered if another invocation has it', async () => {
    const setup = recordedShareDependencies(recipients(3));
    const prepared = await setup.time.until(prepare(setup));
    const [tally] = prepared.tallies;
    setup.begin([{ ...tally!, claimedBy: 'other' }]);
    await expect(setup.time.until(prepared.deliver())).rejects.toThrow('Another invocation has');
  });
});

describe('the key pairs of a chunk', () => {
  const current = { number: 1, publicKey: 'new', privateKey: 'new d' };
  const rotated = { ...project, vapid: { current, previous: project.vapid.current } };
  const newcomer = recipients(3).map((one, index) =>
    index === 2 ? { ...one, vapidPairNumber: 1 } : one,
  );

  function rotatedSetup() {
    const refreshes: string[] = [];
    const refresh = async (projectId: string) => {
      refreshes.push(projectId);
      return rotated;
    };
    return { refreshes, setup: recordedShareDependencies(newcomer, { projects: { refresh } }) };
  }

  test('are read again before the claim if a recipient has a newer one', async () => {
    const { refreshes, setup } = rotatedSetup();
    await run(setup);
    expect(setup.chunks[0]!.vapid).toEqual(rotated.vapid);
    expect(refreshes).toEqual(['shop']);
  });

  test('that cannot be read leave the share to the retry', async () => {
    const refresh = () => Promise.reject(new Error('throttled'));
    const setup = recordedShareDependencies(newcomer, { projects: { refresh } });
    await expect(run(setup, unlimited, longInvocation)).rejects.toThrow('throttled');
    expect(await tallyOf(setup)).toBeUndefined();
  });

  test('are corrected in the project of the share', async () => {
    const setup = recordedShareDependencies(recipients(1));
    await run(setup);
    const [chunk] = setup.chunks;
    await chunk!.correctPair(chunk!.recipients[0]!, 4, new AbortController().signal);
    expect(setup.calls).toContain('pair 4 in shop');
  });
});

describe('tallies', () => {
  test('exist before the first push, and each has a message with its URL', async () => {
    const setup = recordedShareDependencies(recipients(3));
    await run(setup, { firstTally: 6, tallies: 3, eventWindowSeconds: 7 });
    const firstPush = setup.calls.indexOf('deliver 3');
    const claim = `claim 6 to ${positionCount}, 3 pending`;
    for (const call of [claim, 'open 7', 'open 8']) {
      expect(setup.calls.slice(0, firstPush)).toContain(call);
    }
    const data = setup.chunks[0]!.messages.map(
      (message) => JSON.parse(message.toString()).notification.data,
    );
    expect(data).toMatchObject([
      { events: 'https://push.example.com/events?tally=6', window: 7 },
      { events: 'https://push.example.com/events?tally=7', window: 7 },
      { events: 'https://push.example.com/events?tally=8', window: 7 },
    ]);
  });

  test('are created before the share is claimed, so that a failure leaves it to the retry', async () => {
    const setup = recordedShareDependencies(recipients(3));
    const open = () => Promise.reject(new Error('throttled'));
    const failing = { ...setup.deps, tallies: { ...setup.deps.tallies, open } };
    await expect(
      run({ ...setup, deps: failing }, { tallies: 2, ...unlimited }, longInvocation),
    ).rejects.toThrow('throttled');
    expect(await tallyOf(setup)).toBeUndefined();
    expect(await run(setup, { tallies: 2, ...unlimited }, longInvocation)).toMatchObject({
      result: { attempted: 3, failed: 0 },
    });
  });
});

describe('a share of several chunks', () => {
  test('is pushed chunk by chunk, each subscriber once', async () => {
    const setup = recordedShareDependencies(recipients(10));
    const outcome = await run(setup, quarters);
    expect(setup.chunks.map((chunk) => chunk.recipients.length)).toEqual([2, 3, 2, 3]);
    expect(setup.pushed()).toEqual(recipients(10).map(({ path }) => path));
    expect(outcome.result).toMatchObject({ attempted: 10, delivered: 10, isComplete: true });
  });

  test('records the counts of earlier chunks with each start', async () => {
    const setup = recordedShareDependencies(recipients(8), {
      startPushing: fakePusher((chunk) =>
        chunk.recipients[0]!.path === '/4'
          ? dying()
          : { done: Promise.resolve(allDelivered(chunk)), soFar: () => noCounts },
      ),
    });
    void deliverShare(setup.deps, project, share(quarters), invocation);
    await setup.time.until(setup.time.sleep(100));
    expect(await tallyOf(setup)).toMatchObject({
      position: (positionCount / 4) * 3,
      pending: 2,
      counts: { attempted: 4, delivered: 4 },
    });
  });

  test('starts no chunk after the last push, and is incomplete then', async () => {
    const setup = recordedShareDependencies(recipients(8));
    const deadline = { lastPushAt: startMs + 1500, endAt: startMs + 3000 };
    const outcome = await run(setup, { ...quarters, deadline });
    expect(setup.pushed()).toHaveLength(4);
    expect(outcome).toEqual({
      kind: 'ended',
      result: { ...noCounts, attempted: 4, delivered: 4, isComplete: false },
      error: undefined,
    });
    expect(await tallyOf(setup)).toMatchObject({ ended: 'incomplete', counts: { attempted: 4 } });
  });

  test('without a deadline starts only chunks that end in time, and its retry continues', async () => {
    const setup = recordedShareDependencies(recipients(8));
    // Recipients that were read may be at a slow push service for 3 minutes.
    const first = { id: 'first', endsAt: startMs + 3 * 60_000 + 1500 };
    await expect(run(setup, { ...quarters, ...unlimited }, first)).rejects.toThrow(
      'the next attempt continues',
    );
    expect(setup.pushed()).toHaveLength(4);
    // The retry does not wait for a claim that nobody needs.
    const claim = { until: startMs + setup.time.now };
    expect(await tallyOf(setup)).toMatchObject({ claim, pending: 0, ended: undefined });
    const outcome = await run(setup, { ...quarters, ...unlimited }, longInvocation);
    expect(outcome.result).toEqual({
      ...allDelivered({ recipients: recipients(8) }),
      isComplete: true,
    });
    expect(setup.pushed()).toEqual(recipients(8).map(({ path }) => path));
  });
});

describe('a chunk with more recipients than fit in memory', () => {
  test('is divided until it fits', async () => {
    const setup = recordedShareDependencies(recipients(10), {}, 4);
    const outcome = await run(setup);
    expect(setup.chunks.map((chunk) => chunk.recipients.length)).toEqual([2, 3, 2, 3]);
    expect(outcome.result).toMatchObject({ attempted: 10, unreached: 0, isComplete: true });
  });

  test('and a single position is cut: at least one more is unreached', async () => {
    const [one] = recipients(1);
    const from = positionCount / 2;
    const setup = recordedShareDependencies(Array(6).fill(one), {}, 4);
    const outcome = await run(setup, { from, to: from + 1, step: 1 });
    expect(outcome.result).toMatchObject({ attempted: 4, unreached: 1, isComplete: true });
  });
});

describe('a share that another invocation has', () => {
  const other = { ...longInvocation, id: 'other' };
  const mine = { ...longInvocation, id: 'mine' };

  test('is left to it if a caller waits', async () => {
    const startPushing = fakePusher(() => dying());
    const setup = recordedShareDependencies(recipients(3), { startPushing });
    void deliverShare(setup.deps, project, share(), other);
    await setup.time.until(setup.time.sleep(100_000));
    const before = await tallyOf(setup);
    // Its deadline has not passed.
    const deadline = { lastPushAt: startMs + 200_000, endAt: startMs + 210_000 };
    const outcome = await setup.time.until(
      deliverShare(setup.deps, project, share({ deadline }), mine),
    );
    expect(outcome).toEqual({ kind: 'elsewhere' });
    expect(await tallyOf(setup)).toEqual(before);
  });

  test('asynchronously is awaited, however long it takes, and gives its result', async () => {
    const setup = recordedShareDependencies(recipients(3));
    const startPushing = fakePusher((chunk) => ({
      ...setup.push(chunk),
      done: setup.time.sleep(300_000).then(() => allDelivered(chunk)),
    }));
    void deliverShare({ ...setup.deps, startPushing }, project, share(unlimited), other);
    await setup.time.until(setup.time.sleep(1000));
    const outcome = await run(setup, unlimited, mine);
    expect(outcome.result).toMatchObject({ attempted: 3, delivered: 3, isComplete: true });
    expect(setup.time.now).toBeGreaterThan(300_000);
    expect(setup.pushed()).toHaveLength(3);
    expect(setup.calls.filter((call) => call === 'observe')).toHaveLength(1);
  });

  test('asynchronously leaves its event to Lambda if the time is over before', async () => {
    const startPushing = fakePusher(() => dying());
    const setup = recordedShareDependencies(recipients(3), { startPushing });
    void deliverShare(setup.deps, project, share(unlimited), other);
    await setup.time.until(setup.time.sleep(1000));
    const short = { id: 'mine', endsAt: startMs + 200_000 };
    await expect(run(setup, unlimited, short)).rejects.toThrow('Lambda repeats this one');
  });

  test('and has ended gives its stored result, and is not observed again', async () => {
    const setup = recordedShareDependencies(recipients(3));
    const first = await run(setup);
    setup.calls.length = 0;
    expect(await run(setup, {}, { ...invocation, id: 'other' })).toEqual({
      kind: 'ended',
      result: first.result,
    });
    expect(setup.calls).toEqual([`everyone 0-${positionCount}`, 'not 0']);
  });
});

describe('a share whose function has died', () => {
  /** The first function dies in the second of four chunks, after one of its two pushes. */
  async function died() {
    const setup = recordedShareDependencies(recipients(8));
    const startPushing = fakePusher((chunk) =>
      chunk.recipients[0]!.path === '/2'
        ? { ...setup.push(chunk), ...dying({ ...noCounts, attempted: 1, delivered: 1 }) }
        : setup.push(chunk),
    );
    const dead = { ...dyingDependencies(setup), startPushing };
    const change = { ...quarters, ...unlimited };
    void deliverShare(dead, project, share(change), { ...longInvocation, id: 'dead' });
    await setup.time.until(setup.time.sleep(5000));
    return { setup, change };
  }

  test('continues after its chunk, whose other pushes count as interrupted', async () => {
    const { setup, change } = await died();
    await setup.time.until(setup.time.sleep(60_000));
    const outcome = await run(setup, change, longInvocation);
    expect(outcome.result).toEqual({
      ...noCounts,
      ...{ attempted: 8, delivered: 7, failed: 1, failures: { interrupted: 1 } },
      isComplete: true,
    });
    expect(setup.pushed()).toEqual(recipients(8).map(({ path }) => path));
    expect(await tallyOf(setup)).toMatchObject({ ended: 'complete', pending: 0 });
  });

  test('keeps which users it has reached, and adds others', async () => {
    const setup = recordedShareDependencies();
    const startPushing = fakePusher((chunk) => {
      if (chunk.recipients[0]!.path !== 'v') return setup.push(chunk);
      // One of the two pushes of the second chunk is delivered before the function dies.
      chunk.onDelivered?.(chunk.recipients[1]!);
      return { ...setup.push(chunk), ...dying({ ...noCounts, attempted: 1, delivered: 1 }) };
    });
    const dead = { ...dyingDependencies(setup), startPushing };
    const userIds = [...'uuuuuuuuvwxyz'];
    const change = { ...unlimited, userIds, from: 6, to: 13, step: 2 };
    void deliverShare(dead, project, share(change), { ...longInvocation, id: 'dead' });
    await setup.time.until(setup.time.sleep(65_000));
    const outcome = await run(setup, change, longInvocation);
    const reached = Uint8Array.of(0b1100_0000, 0b0001_1110);
    expect(outcome.reached).toEqual(reached);
    expect(await tallyOf(setup)).toMatchObject({ ended: 'complete', reached });
  });

  test('is taken over after the end of its claim, also by a repetition that comes at once', async () => {
    const { setup, change } = await died();
    const outcome = await run(setup, change, longInvocation);
    // The last write was after 2 s, and the chunk took 1 s before it.
    const claimEndsAt = 3000 + 60_000;
    expect(setup.time.now).toBeGreaterThan(claimEndsAt);
    expect(outcome.result).toMatchObject({ attempted: 8, delivered: 7, isComplete: true });
  });

  test('is continued by one of two invocations', async () => {
    const { setup, change } = await died();
    await setup.time.until(setup.time.sleep(60_000));
    const [one, other] = await setup.time.until(
      Promise.all(
        ['one', 'other'].map((id) =>
          deliverShare(setup.deps, project, share(change), { ...longInvocation, id }),
        ),
      ),
    );
    expect(ended(one!).result).toEqual(ended(other!).result);
    expect(setup.calls.filter((call) => call === 'observe')).toHaveLength(1);
    expect(setup.pushed()).toEqual(recipients(8).map(({ path }) => path));
  });

  test('is only ended if that was its last chunk', async () => {
    const setup = recordedShareDependencies(recipients(3));
    const dead = { ...dyingDependencies(setup), startPushing: fakePusher(() => dying()) };
    void deliverShare(dead, project, share(unlimited), { ...longInvocation, id: 'dead' });
    await setup.time.until(setup.time.sleep(60_000));
    const outcome = await run(setup, unlimited, longInvocation);
    expect(outcome.result).toMatchObject({
      ...{ attempted: 3, failed: 3, failures: { interrupted: 3 } },
      isComplete: true,
    });
    expect(setup.pushed()).toEqual([]);
    expect(await tallyOf(setup)).toMatchObject({ ended: 'complete', pending: 0 });
  });
});

describe('an invocation whose claim has run out', () => {
  /** Reading the second chunk takes so long. The claim is not extended meanwhile. */
  function slowReader(setup: Setup, ms: number): Setup['deps'] {
    const { audiences, tallies, sleep } = setup.deps;
    let reads = 0;
    return {
      ...setup.deps,
      // A database that does not respond to the writes.
      sleep: (wait, signal) => (wait === 2000 ? new Promise(() => {}) : sleep(wait, signal)),
      tallies,
      audiences: {
        ...audiences,
        everyone: async (...args) => {
          reads += 1;
          if (reads === 2) await setup.time.sleep(ms);
          return audiences.everyone(...args);
        },
      },
    };
  }
  const halves = { step: positionCount / 2, ...unlimited };

  test('pushes nothing once another one has taken the share over', async () => {
    const setup = recordedShareDependencies(recipients(4));
    const slow = deliverShare(slowReader(setup, 63_000), project, share(halves), {
      ...longInvocation,
      id: 'slow',
    });
    await setup.time.until(setup.time.sleep(50_000));
    const outcome = await run(setup, halves, { ...longInvocation, id: 'other' });
    // The first chunk was pushed, and its counts could not be stored.
    expect(outcome.result).toMatchObject({ attempted: 4, failures: { interrupted: 2 } });
    expect(ended(await setup.time.until(slow)).result).toEqual(outcome.result);
    expect(setup.pushed()).toEqual(recipients(4).map(({ path }) => path));
  });

  test('keeps the share if it writes before the other one does', async () => {
    const setup = recordedShareDependencies(recipients(4));
    const slow = deliverShare(slowReader(setup, 59_500), project, share(halves), {
      ...longInvocation,
      id: 'slow',
    });
    await setup.time.until(setup.time.sleep(50_000));
    const outcome = await run(setup, halves, { ...longInvocation, id: 'other' });
    expect(outcome.result).toMatchObject({ attempted: 4, delivered: 4, failed: 0 });
    expect(ended(await setup.time.until(slow)).result).toEqual(outcome.result);
    expect(setup.pushed()).toEqual(recipients(4).map(({ path }) => path));
  });
});

describe('an invocation that has lost its share', () => {
  async function lostAfter(ms: number, chunkMs: number) {
    const setup = recordedShareDependencies(recipients(4));
    const { stops, deps } = stoppable(setup, chunkMs);
    setup.time.at(ms, () => {
      const previous = { by: longInvocation.id, step: 1 };
      const progress = { until: startMs + 60_000, position: positionCount, pending: 0 };
      const writer = { by: 'other', step: 1, previous };
      const ended = { ...progress, counts: noCounts, ended: 'complete' as const };
      void setup.deps.tallies.save(share(), writer, ended);
    });
    await run({ ...setup, deps }, { step: positionCount / 2, ...unlimited }, longInvocation);
    return { stops, chunks: setup.chunks };
  }

  test('stops its pushes with the claim of the next chunk', async () => {
    const { stops, chunks } = await lostAfter(500, 1000);
    expect(stops).toEqual([1000]);
    expect(chunks).toHaveLength(1);
  });

  test('stops its pushes with the next save', async () => {
    const { stops, chunks } = await lostAfter(500, 10_000);
    expect(stops[0]).toBe(2000);
    expect(chunks).toHaveLength(1);
  });
});

describe('a share that is stopped', () => {
  /** Stops it after these ms. @returns the epoch ms of `pausesAt` at that time and at the end. */
  async function stoppedAfter(
    ms: number,
    chunkMs: number,
    change: Parameters<typeof share>[0] = { ...quarters, ...unlimited },
    readMs = 0,
  ) {
    const setup = recordedShareDependencies(recipients(8));
    const { audiences } = setup.deps;
    const everyone: typeof audiences.everyone = async (...args) => {
      await setup.time.sleep(readMs);
      return audiences.everyone(...args);
    };
    const stopping = stoppable(setup, chunkMs);
    const { stops } = stopping;
    const deps = { ...stopping.deps, audiences: { ...audiences, everyone } };
    const pauses: number[] = [];
    const startPushing: typeof deps.startPushing = (options) => {
      const note = () => pauses.push(options.times.pausesAt - startMs);
      setup.time.at(ms, note);
      setup.time.at(ms + 3000, note);
      return deps.startPushing(options);
    };
    setup.time.at(ms, () => void setup.deps.tallies.stop(share(), startMs + ms));
    const outcome = await run(
      { ...setup, deps: { ...deps, startPushing } },
      change,
      longInvocation,
    );
    return { setup, stops, outcome, pauses };
  }

  test.each([
    ['with the claim', 1500, 900, 0, 1800, 4],
    ['with a save while the chunk is read', 900, 1900, 200, 2200, 2],
  ])('claims no further chunk: its recipients are unreached. Noticed %s', async (...times) => {
    const [, ms, chunkMs, readMs, stopAt, count] = times;
    const change = { ...quarters, ...unlimited };
    const { setup, stops, outcome } = await stoppedAfter(ms, chunkMs, change, readMs);
    expect(setup.pushed()).toHaveLength(count);
    expect(stops[0]).toBe(stopAt);
    const counts = { ...noCounts, attempted: count, delivered: count, unreached: 2 };
    expect(outcome.result).toEqual({ ...counts, isComplete: false, isStopped: true });
    expect(await tallyOf(setup)).toMatchObject({
      ...{ stoppedAt: startMs + ms, ended: 'incomplete', pending: 0, counts },
    });
  });

  test('is noticed with the next save, and its counts are still saved', async () => {
    const { setup, stops } = await stoppedAfter(500, 10_000);
    expect(stops[0]).toBe(2000);
    expect(setup.chunks).toHaveLength(1);
    const saves = setup.calls.filter((call) => call.startsWith('save'));
    expect(saves.slice(0, 2)).toEqual(Array(2).fill('save 0 attempted, 2 pending, not ended'));
    expect(await tallyOf(setup)).toMatchObject({ ended: 'incomplete', counts: { attempted: 2 } });
  });

  test.each([
    ['a caller waits', {}],
    ['nobody waits', unlimited],
  ])('allows pushes for 4.5 s after the last write before the stop, if %s', async (_, change) => {
    const { pauses } = await stoppedAfter(2500, 10_000, change);
    expect(pauses).toEqual([2000 + 4500, 2000 + 4500]);
  });

  test('when everyone is read already is complete, and says so', async () => {
    const { setup, outcome } = await stoppedAfter(500, 1000, unlimited);
    expect(outcome.result).toMatchObject({ attempted: 8, isComplete: true, isStopped: true });
    expect(await tallyOf(setup)).toMatchObject({ ended: 'complete', counts: { attempted: 8 } });
  });

  test('before anyone has claimed it ends without a push, and its event is consumed', async () => {
    const setup = recordedShareDependencies(recipients(8));
    await setup.deps.tallies.stop(share(), startMs);
    const outcome = await run(setup, { ...quarters, ...unlimited }, longInvocation);
    expect(setup.chunks).toEqual([]);
    const result = { ...noCounts, isComplete: false };
    expect(outcome.result).toEqual({ ...result, isStopped: true });
    // The notification was reported as stopped with these counts.
    expect(await tallyOf(setup)).toMatchObject({
      ended: 'incomplete',
      pending: 0,
      counts: noCounts,
    });
  });

  test('and whose function has died is ended by the next one, after the claim', async () => {
    const setup = recordedShareDependencies(recipients(8));
    const dead = { ...dyingDependencies(setup), startPushing: fakePusher(() => dying()) };
    const change = { ...quarters, ...unlimited };
    void deliverShare(dead, project, share(change), { ...longInvocation, id: 'dead' });
    await setup.time.until(setup.time.sleep(5000));
    await setup.deps.tallies.stop(share(), startMs + 5000);
    const outcome = await run(setup, change, longInvocation);
    expect(setup.time.now).toBeGreaterThan(60_000);
    expect(setup.pushed()).toEqual([]);
    expect(outcome.result).toMatchObject({
      ...{ attempted: 2, failures: { interrupted: 2 }, unreached: 0 },
      isStopped: true,
    });
  });

  test('while the response to a claim was lost pushes nothing of that chunk', async () => {
    const setup = recordedShareDependencies(recipients(3));
    const { tallies } = setup.deps;
    const save: typeof tallies.save = async (key, writer, progress, signal) => {
      // The first attempt of the call has succeeded.
      if (writer.step === 1) {
        await tallies.save(key, writer, progress, signal);
        await tallies.stop(key, startMs);
      }
      return tallies.save(key, writer, progress, signal);
    };
    const deps = { ...setup.deps, tallies: { ...tallies, save } };
    const outcome = await run({ ...setup, deps }, unlimited, longInvocation);
    expect(setup.pushed()).toEqual([]);
    expect(outcome.result).toMatchObject({ attempted: 0, isComplete: false, isStopped: true });
    expect(await tallyOf(setup)).toMatchObject({ pending: 0, ended: 'incomplete' });
  });

  test('is left to the invocation that has it', async () => {
    const setup = recordedShareDependencies(recipients(3));
    const startPushing = fakePusher(() => dying());
    void deliverShare({ ...setup.deps, startPushing }, project, share(unlimited), longInvocation);
    await setup.time.until(setup.time.sleep(1000));
    await setup.deps.tallies.stop(share(), startMs);
    const short = { id: 'mine', endsAt: startMs + 200_000 };
    await expect(run(setup, unlimited, short)).rejects.toThrow('Lambda repeats this one');
    expect(await tallyOf(setup)).toMatchObject({ claim: { by: 'long' }, ended: undefined });
  });
});

describe('a project that is deleted meanwhile', () => {
  const successor = { ...project, createdAt: '2026-11-20T12:00:01.000Z' };

  test('is noticed while the pushes of a chunk continue, which stop', async () => {
    const setup = recordedShareDependencies(recipients(3), {
      projects: { refresh: async () => successor },
    });
    const { stops, deps } = stoppable(setup, 5000);
    await run({ ...setup, deps }, unlimited, longInvocation);
    expect(stops[0]).toBe(2000);
  });

  test.each([
    ['is gone', undefined],
    ['was created again', successor],
  ])('and %s: pushes end, and the share with them', async (_, found) => {
    const setup = recordedShareDependencies(recipients(8), {
      projects: { refresh: async () => found },
    });
    const outcome = await run(setup, { ...quarters, ...unlimited }, longInvocation);
    // The project is looked for every 2 s, and a chunk takes 1 s.
    expect(setup.pushed().length).toBeLessThan(8);
    expect(outcome.result).toMatchObject({ isComplete: false });
    expect(await tallyOf(setup)).toMatchObject({ ended: 'incomplete' });
  });

  test('is noticed before a push, if reading has taken long', async () => {
    const setup = recordedShareDependencies(recipients(3), {
      projects: { refresh: async () => successor },
    });
    const { audiences } = setup.deps;
    const everyone: typeof audiences.everyone = async (...args) => {
      await setup.time.sleep(2500);
      return audiences.everyone(...args);
    };
    const deps = { ...setup.deps, audiences: { ...audiences, everyone } };
    await run({ ...setup, deps }, unlimited, longInvocation);
    expect(setup.pushed()).toEqual([]);
  });
});

describe('progress', () => {
  test('is saved every 2 s', async () => {
    let attempted = 0;
    const setup = recordedShareDependencies(recipients(10));
    const startPushing = fakePusher((chunk) => {
      const settleFour = () => {
        attempted += 4;
      };
      for (const ms of [1000, 3000]) setup.time.at(ms, settleFour);
      return {
        done: setup.time.sleep(5000).then(() => allDelivered(chunk)),
        soFar: () => ({ ...noCounts, attempted, delivered: attempted }),
      };
    });
    await run({ ...setup, deps: { ...setup.deps, startPushing } });
    expect(setup.calls.filter((call) => call.startsWith('save'))).toEqual([
      'save 4 attempted, 6 pending, not ended',
      'save 8 attempted, 2 pending, not ended',
      'save 10 attempted, 0 pending, complete',
    ]);
  });

  test('counts a recipient that is already unreached once', async () => {
    const soFar = { ...noCounts, attempted: 4, delivered: 4, unreached: 5 };
    const startPushing = fakePusher(() => dying(soFar));
    const setup = recordedShareDependencies(recipients(10), { startPushing });
    void deliverShare(setup.deps, project, share(), invocation);
    await setup.time.until(setup.time.sleep(2500));
    expect(await tallyOf(setup)).toMatchObject({
      pending: 1,
      counts: { attempted: 4, unreached: 5 },
    });
  });

  test('is not saved after the end of the share', async () => {
    const setup = recordedShareDependencies(recipients(3));
    await run(setup);
    setup.calls.length = 0;
    await setup.time.until(setup.time.sleep(10_000));
    expect(setup.calls).toEqual([]);
  });

  test('is stored again at the end until that succeeds', async () => {
    const setup = recordedShareDependencies(recipients(3));
    const { tallies } = setup.deps;
    let failures = 3;
    const save: typeof tallies.save = async (key, writer, progress, signal) => {
      if (progress.ended !== undefined && failures-- > 0) throw new Error('throttled');
      return tallies.save(key, writer, progress, signal);
    };
    await run({ ...setup, deps: { ...setup.deps, tallies: { ...tallies, save } } });
    expect(await tallyOf(setup)).toMatchObject({ ended: 'complete', counts: { attempted: 3 } });
    expect(setup.calls).not.toContain('not recorded: throttled');
  });

  test('without a deadline, whose end cannot be stored, is left to the retry', async () => {
    const setup = recordedShareDependencies(recipients(3));
    const deps = { ...setup.deps, tallies: failingAfterClaim(setup) };
    await expect(run({ ...setup, deps }, unlimited, longInvocation)).rejects.toThrow('throttled');
    expect(setup.calls).toContain('not recorded: throttled');
    expect(setup.calls).not.toContain('observe');
  });

  test('that cannot be stored is observed, and the counts are returned', async () => {
    const setup = recordedShareDependencies(recipients(3));
    const deps = { ...setup.deps, tallies: failingAfterClaim(setup) };
    expect((await run({ ...setup, deps }))?.result).toMatchObject({ attempted: 3 });
    expect(setup.calls).toContain('not recorded: throttled');
  });
});

describe('a fault', () => {
  const fault = new Error('database fault');

  /** Reading fails from the second chunk on. */
  function failing(from = 2) {
    const setup = recordedShareDependencies(recipients(8));
    const { audiences } = setup.deps;
    let reads = 0;
    const everyone: typeof audiences.everyone = async (...args) => {
      reads += 1;
      if (reads >= from) throw fault;
      return audiences.everyone(...args);
    };
    return {
      ...setup,
      deps: { ...setup.deps, audiences: { ...audiences, everyone } },
    };
  }

  test('before the first chunk leaves no tally, and is returned', async () => {
    const setup = failing(1);
    const outcome = await run(setup);
    expect(outcome).toEqual({
      kind: 'ended',
      result: { ...noCounts, isComplete: false },
      error: fault,
    });
    expect(await tallyOf(setup)).toBeUndefined();
  });

  test('keeps the counts of earlier chunks, and is returned with them', async () => {
    const setup = failing();
    const outcome = await run(setup, quarters);
    expect(outcome).toMatchObject({ result: { attempted: 2, isComplete: false }, error: fault });
    expect(await tallyOf(setup)).toMatchObject({ ended: 'incomplete', counts: { attempted: 2 } });
  });

  test('without a deadline is thrown, so that Lambda repeats the invocation', async () => {
    const setup = failing();
    await expect(run(setup, { ...quarters, ...unlimited }, longInvocation)).rejects.toBe(fault);
    expect(await tallyOf(setup)).toMatchObject({ ended: undefined, counts: { attempted: 2 } });
  });
});

describe('subscriptions that are gone', () => {
  test('are removed from the project by the hashes of their endpoints', async () => {
    const setup = recordedShareDependencies(recipients(3));
    await run(setup);
    const { signal } = new AbortController();
    await setup.chunks[0]!.remove(recipients(2), signal);
    expect(setup.calls).toContain('remove 2 of shop');
  });

  test('are removed by the part of the counter that they give units back to', async () => {
    const { deps, chunks, time } = recordedShareDependencies(recipients(16));
    await time.until(deliverShare(deps, project, share(), invocation));
    const found = recipients(16).map((one) => chunks[0]!.removalGroup(one));
    expect([...new Set(found)]).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });
});
