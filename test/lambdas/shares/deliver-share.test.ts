import { deliverShare } from '../../../lambdas/shares/deliver-share.ts';
import { positionCount } from '../../../lambdas/store/subscription-keys.ts';
import { noCounts } from '../../fixtures/virtual-delivery.ts';
import {
  allDelivered,
  dying,
  invocation,
  longInvocation,
  project,
  recipients,
  recordedShareParts,
  share,
  startMs,
} from './recorded-share-parts.ts';

type Setup = ReturnType<typeof recordedShareParts>;

const unlimited = { deadline: undefined };
const quarters = { step: positionCount / 4 };

function run({ parts, time }: Setup, change: Parameters<typeof share>[0] = {}, by = invocation) {
  return time.until(deliverShare(parts, project, share(change), by));
}

async function tallyOf({ parts }: Setup, number = 0) {
  return (await parts.tallies.find(share().notificationId, [number]))[0];
}

describe('a share of one chunk', () => {
  test('is claimed, pushed and ended', async () => {
    const setup = recordedShareParts(recipients(3));
    const outcome = await run(setup);
    const counts = { ...noCounts, attempted: 3, delivered: 3 };
    expect(outcome).toEqual({ result: { ...counts, isComplete: true }, error: undefined });
    expect(setup.calls).toEqual([
      `everyone 0-${positionCount}`,
      'start 0',
      'deliver 3',
      'save 3 attempted, 0 pending, complete',
      'observe',
    ]);
    expect(await tallyOf(setup)).toMatchObject({ pending: 0, counts, ended: 'complete' });
  });

  test('is recorded as pending before its first push', async () => {
    const deliver = jest.fn(() => dying());
    const setup = recordedShareParts(recipients(3), { deliver });
    void deliverShare(setup.parts, project, share(), invocation);
    await setup.time.until(setup.time.sleep(500));
    expect(deliver).toHaveBeenCalledTimes(1);
    expect(await tallyOf(setup)).toMatchObject({
      claim: { by: 'invocation', until: startMs + 25_000 + 2000 },
      position: positionCount,
      pending: 3,
      counts: noCounts,
    });
  });

  test('has the deadline, the pace and the keys of its share', async () => {
    const setup = recordedShareParts(recipients(3));
    await run(setup);
    expect(setup.chunks[0]).toMatchObject({
      vapid: project.vapid,
      lastPushAt: startMs + 22_000,
      endAt: startMs + 25_000,
      pushesPerSecond: 20_000,
    });
  });

  test('of user ids reads the subscriptions of these', async () => {
    const setup = recordedShareParts();
    const userIds = ['u', 'v', 'w'];
    await run(setup, { userIds, from: 0, to: 3, step: 2 });
    expect(setup.calls.filter((call) => call.startsWith('users'))).toEqual([
      'users u,v',
      'users w',
    ]);
    expect(setup.pushed()).toEqual(['u', 'v', 'w']);
  });
});

describe('the key pairs of a chunk', () => {
  const current = { number: 1, publicKey: 'new', privateKey: 'new d' };
  const rotated = { ...project, vapid: { current, previous: project.vapid.current } };
  const newcomer = recipients(3).map((one, index) => (index === 2 ? { ...one, pair: 1 } : one));

  function rotatedSetup() {
    const refreshes: string[] = [];
    const refresh = async (projectId: string) => {
      refreshes.push(projectId);
      return rotated;
    };
    return { refreshes, setup: recordedShareParts(newcomer, { projects: { refresh } }) };
  }

  test('are read again before the claim if a recipient has a newer one', async () => {
    const { refreshes, setup } = rotatedSetup();
    await run(setup);
    expect(setup.chunks[0]!.vapid).toEqual(rotated.vapid);
    expect(refreshes).toEqual(['shop']);
  });

  test('are read again once for all chunks that follow', async () => {
    const { refreshes, setup } = rotatedSetup();
    await run(setup, { ...quarters, ...unlimited }, longInvocation);
    expect(setup.chunks.at(-1)!.vapid).toEqual(rotated.vapid);
    expect(refreshes).toHaveLength(1);
  });

  test('that cannot be read leave the share to the retry', async () => {
    const refresh = () => Promise.reject(new Error('throttled'));
    const setup = recordedShareParts(newcomer, { projects: { refresh } });
    await expect(run(setup, unlimited, longInvocation)).rejects.toThrow('throttled');
    expect(await tallyOf(setup)).toBeUndefined();
  });

  test('are corrected in the project of the share', async () => {
    const setup = recordedShareParts(recipients(1));
    await run(setup);
    const [chunk] = setup.chunks;
    await chunk!.correctPair(chunk!.recipients[0]!, 4, new AbortController().signal);
    expect(setup.calls).toContain('pair 4 in shop');
  });
});

describe('tallies', () => {
  test('exist before the first push, and each has a message with its URL', async () => {
    const setup = recordedShareParts(recipients(3));
    await run(setup, { firstTally: 6, tallies: 3, eventWindow: 7 });
    const firstPush = setup.calls.indexOf('deliver 3');
    for (const call of ['start 6', 'open 7', 'open 8']) {
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
    const setup = recordedShareParts(recipients(3));
    const open = () => Promise.reject(new Error('throttled'));
    const failing = { ...setup.parts, tallies: { ...setup.parts.tallies, open } };
    await expect(
      setup.time.until(
        deliverShare(failing, project, share({ tallies: 2, ...unlimited }), longInvocation),
      ),
    ).rejects.toThrow('throttled');
    expect(await tallyOf(setup)).toBeUndefined();
    expect(await run(setup, { tallies: 2, ...unlimited }, longInvocation)).toMatchObject({
      result: { attempted: 3, failed: 0 },
    });
  });
});

describe('a share of several chunks', () => {
  test('is pushed chunk by chunk, each subscriber once', async () => {
    const setup = recordedShareParts(recipients(10));
    const outcome = await run(setup, quarters);
    expect(setup.chunks.map((chunk) => chunk.recipients.length)).toEqual([2, 3, 2, 3]);
    expect(setup.pushed()).toEqual(recipients(10).map(({ path }) => path));
    expect(outcome?.result).toMatchObject({ attempted: 10, delivered: 10, isComplete: true });
  });

  test('records the counts of earlier chunks with each start', async () => {
    const setup = recordedShareParts(recipients(8), {
      deliver: (chunk) =>
        chunk.recipients[0]!.path === '/4'
          ? dying()
          : { done: Promise.resolve(allDelivered(chunk)), soFar: () => noCounts },
    });
    void deliverShare(setup.parts, project, share(quarters), invocation);
    await setup.time.until(setup.time.sleep(100));
    expect(await tallyOf(setup)).toMatchObject({
      position: (positionCount / 4) * 3,
      pending: 2,
      counts: { attempted: 4, delivered: 4 },
    });
  });

  test('starts no chunk after the last push, and is incomplete then', async () => {
    const setup = recordedShareParts(recipients(8));
    const deadline = { lastPushAt: startMs + 1500, endAt: startMs + 3000 };
    const outcome = await run(setup, { ...quarters, deadline });
    expect(setup.pushed()).toHaveLength(4);
    expect(outcome).toEqual({
      result: { ...noCounts, attempted: 4, delivered: 4, isComplete: false },
      error: undefined,
    });
    expect(await tallyOf(setup)).toMatchObject({ ended: 'incomplete', counts: { attempted: 4 } });
  });

  test('without a deadline starts only chunks that end in time, and its retry continues', async () => {
    const setup = recordedShareParts(recipients(8));
    // A chunk may take 45 s, and the writes after it 2 s.
    const first = { id: 'first', endsAt: startMs + 45_000 + 2000 + 1500 };
    await expect(run(setup, { ...quarters, ...unlimited }, first)).rejects.toThrow(
      'the next attempt continues',
    );
    expect(setup.pushed()).toHaveLength(4);
    expect(await tallyOf(setup)).toMatchObject({ pending: 0, ended: undefined });
    await setup.time.until(setup.time.sleep(60_000));
    const outcome = await run(setup, { ...quarters, ...unlimited }, longInvocation);
    expect(outcome?.result).toEqual({
      ...allDelivered({ recipients: recipients(8) }),
      isComplete: true,
    });
    expect(setup.pushed()).toEqual(recipients(8).map(({ path }) => path));
  });
});

describe('a chunk with more recipients than fit in memory', () => {
  test('is divided until it fits', async () => {
    const setup = recordedShareParts(recipients(10), {}, 4);
    const outcome = await run(setup);
    expect(setup.chunks.map((chunk) => chunk.recipients.length)).toEqual([2, 3, 2, 3]);
    expect(outcome?.result).toMatchObject({ attempted: 10, unreached: 0, isComplete: true });
  });

  test('and a single position is cut: at least one more is unreached', async () => {
    const [one] = recipients(1);
    const from = positionCount / 2;
    const setup = recordedShareParts(Array(6).fill(one), {}, 4);
    const outcome = await run(setup, { from, to: from + 1, step: 1 });
    expect(outcome?.result).toMatchObject({ attempted: 4, unreached: 1, isComplete: true });
  });
});

describe('a share that another invocation has', () => {
  test.each([
    ['with a deadline', {}, 100_000],
    ['without one, while it works on a chunk', unlimited, 10_000],
  ])('%s is left to it', async (_, change, waitMs) => {
    const setup = recordedShareParts(recipients(3), { deliver: () => dying() });
    void deliverShare(setup.parts, project, share(change), { ...longInvocation, id: 'other' });
    await setup.time.until(setup.time.sleep(waitMs));
    const before = await tallyOf(setup);
    // Its chunk has a deadline that has not passed.
    const later = { lastPushAt: startMs + 200_000, endAt: startMs + 210_000 };
    const mine = change === unlimited ? unlimited : { deadline: later };
    expect(await run(setup, mine, { ...longInvocation, id: 'mine' })).toBeUndefined();
    expect(await tallyOf(setup)).toEqual(before);
  });

  test('and has ended gives its stored result, and is not observed again', async () => {
    const setup = recordedShareParts(recipients(3));
    const first = await run(setup);
    setup.calls.length = 0;
    expect(await run(setup, {}, { ...invocation, id: 'other' })).toEqual({ result: first?.result });
    expect(setup.calls).toEqual([`everyone 0-${positionCount}`, 'not 0']);
  });
});

describe('a share whose function has died', () => {
  /** The first function dies in the second of four chunks, after one of its two pushes. */
  async function died() {
    const setup = recordedShareParts(recipients(8));
    const { deliver } = setup.parts;
    const dead = {
      ...setup.parts,
      deliver: (chunk: Parameters<typeof deliver>[0]) =>
        chunk.recipients[0]!.path === '/2'
          ? { ...deliver(chunk), ...dying({ ...noCounts, attempted: 1, delivered: 1 }) }
          : deliver(chunk),
    };
    const change = { ...quarters, ...unlimited };
    void deliverShare(dead, project, share(change), { ...longInvocation, id: 'dead' });
    await setup.time.until(setup.time.sleep(5000));
    return { setup, change };
  }

  test('continues after its chunk, whose other pushes count as interrupted', async () => {
    const { setup, change } = await died();
    await setup.time.until(setup.time.sleep(60_000));
    const outcome = await run(setup, change, longInvocation);
    expect(outcome?.result).toEqual({
      ...noCounts,
      ...{ attempted: 8, delivered: 7, failed: 1, failures: { interrupted: 1 } },
      isComplete: true,
    });
    expect(setup.pushed()).toEqual(recipients(8).map(({ path }) => path));
    expect(await tallyOf(setup)).toMatchObject({ ended: 'complete', pending: 0 });
  });

  test('is continued by one of two invocations', async () => {
    const { setup, change } = await died();
    await setup.time.until(setup.time.sleep(60_000));
    const [one, other] = await setup.time.until(
      Promise.all(
        ['one', 'other'].map((id) =>
          deliverShare(setup.parts, project, share(change), { ...longInvocation, id }),
        ),
      ),
    );
    expect([one, other].filter(Boolean)).toHaveLength(1);
    expect(setup.pushed()).toEqual(recipients(8).map(({ path }) => path));
  });

  test('is only ended if that was its last chunk', async () => {
    const setup = recordedShareParts(recipients(3));
    const dead = { ...setup.parts, deliver: () => dying() };
    void deliverShare(dead, project, share(unlimited), { ...longInvocation, id: 'dead' });
    await setup.time.until(setup.time.sleep(60_000));
    const outcome = await run(setup, unlimited, longInvocation);
    expect(outcome?.result).toMatchObject({
      ...{ attempted: 3, failed: 3, failures: { interrupted: 3 } },
      isComplete: true,
    });
    expect(setup.pushed()).toEqual([]);
    expect(await tallyOf(setup)).toMatchObject({ ended: 'complete', pending: 0 });
  });
});

describe('progress', () => {
  test('is saved every 2 s', async () => {
    let attempted = 0;
    const setup = recordedShareParts(recipients(10));
    const deliver: typeof setup.parts.deliver = (chunk) => ({
      done: setup.time.sleep(5000).then(() => allDelivered(chunk)),
      soFar: () => {
        attempted += 4;
        return { ...noCounts, attempted, delivered: attempted };
      },
    });
    await run({ ...setup, parts: { ...setup.parts, deliver } });
    expect(setup.calls.filter((call) => call.startsWith('save'))).toEqual([
      'save 4 attempted, 6 pending, not ended',
      'save 8 attempted, 2 pending, not ended',
      'save 10 attempted, 0 pending, complete',
    ]);
  });

  test('counts a recipient that is already unreached once', async () => {
    const soFar = { ...noCounts, attempted: 4, delivered: 4, unreached: 5 };
    const setup = recordedShareParts(recipients(10), { deliver: () => dying(soFar) });
    void deliverShare(setup.parts, project, share(), invocation);
    await setup.time.until(setup.time.sleep(2500));
    expect(await tallyOf(setup)).toMatchObject({
      pending: 1,
      counts: { attempted: 4, unreached: 5 },
    });
  });

  test('that cannot be stored is observed, and the counts are returned', async () => {
    const setup = recordedShareParts(recipients(3));
    const save = () => Promise.reject(new Error('throttled'));
    const parts = { ...setup.parts, tallies: { ...setup.parts.tallies, save } };
    expect((await run({ ...setup, parts }))?.result).toMatchObject({ attempted: 3 });
    expect(setup.calls).toContain('not recorded: throttled');
  });
});

describe('a fault', () => {
  const fault = new Error('database fault');

  /** Reading fails from the second chunk on. */
  function failing(from = 2) {
    const setup = recordedShareParts(recipients(8));
    const { audiences } = setup.parts;
    let reads = 0;
    const everyone: typeof audiences.everyone = async (...args) => {
      reads += 1;
      if (reads >= from) throw fault;
      return audiences.everyone(...args);
    };
    return { ...setup, parts: { ...setup.parts, audiences: { ...audiences, everyone } } };
  }

  test('before the first chunk leaves no tally, and is returned', async () => {
    const setup = failing(1);
    const outcome = await run(setup);
    expect(outcome).toEqual({ result: { ...noCounts, isComplete: false }, error: fault });
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
    const setup = recordedShareParts(recipients(3));
    await run(setup);
    const { signal } = new AbortController();
    await setup.chunks[0]!.remove(recipients(2), signal);
    expect(setup.calls).toContain('remove 2 of shop');
  });

  test.each([
    ['single', [0]],
    ['parts', [0, 1, 2, 3, 4, 5, 6, 7]],
  ] as const)(
    'of a project with the counter "%s" are removed in the groups %j',
    async (counter, groups) => {
      const { parts, chunks, time } = recordedShareParts(recipients(16));
      const counted = { ...project, subscriberCounter: counter };
      await time.until(deliverShare(parts, counted, share(), invocation));
      const found = recipients(16).map((one) => chunks[0]!.removalGroup(one));
      expect([...new Set(found)]).toEqual(groups);
    },
  );
});
