import { sliceSizes } from '../../../contract/infrastructure/delivery.ts';
import type { Slice } from '../../../contract/infrastructure/slice.ts';
import { noCounts } from '../../../contract/wire/counts.ts';
import type { ParsedSendRequest } from '../../../contract/wire/notification.ts';
import type { SendDependencies } from '../../../lambdas/send/sending.ts';
import {
  allDelivered,
  type DeliverySetup,
  deliverySetup,
  dying,
  recipients,
  resultOf,
  startMs,
  throttled,
} from '../deliver/delivery-setup.ts';
import { type AddedChunk, fakePusher } from '../deliver/fake-pusher.ts';

// Each slice is one chunk.
Object.assign(sliceSizes, { chunk: 30_000, expectedChunk: 28_000 });

/** Three slices of three recipients. */
const audience = recipients(9);
const everyone = audience.map(({ path }) => path);
const large = { audience: { subscribers: 60_000 } };

/** @param start what becomes of an invocation: whether Lambda takes it. */
function sendWith(
  setup: DeliverySetup,
  start: (slice: Slice, attempt: number) => Promise<boolean>,
  change: Parameters<DeliverySetup['send']>[0] = {},
  deps: SendDependencies = setup.deps,
) {
  const starts: { readonly slice: number; readonly at: number }[] = [];
  const starter: SendDependencies['starter'] = {
    start(slice) {
      starts.push({ slice: slice.slice, at: setup.time.now - startMs - 1000 });
      return start(slice, starts.filter((one) => one.slice === slice.slice).length);
    },
  };
  const outcome = setup.send({ ...large, ...change }, { ...deps, starter });
  return { outcome, starts };
}

const refused = async () => false;
const lost = async () => true;
const delivered = (setup: DeliverySetup) => async (slice: Slice) => {
  setup.deliverElsewhere(slice);
  return true;
};
const unknown = {
  code: 'outcome_unknown',
  location: expect.stringMatching(/^https:.*\/notifications\/[\w-]{36}$/),
};

describe('slices for a caller who waits', () => {
  test('are delivered at the same time: the first one here, the others by functions', async () => {
    const setup = deliverySetup({ audience });
    expect(resultOf(await setup.send(large))).toMatchObject({ attempted: 9, delivered: 9 });
    expect(setup.started.map(({ slice }) => slice)).toEqual([1, 2]);
    expect(setup.started[0]!.awaitedSince).toBe(startMs);
    expect(setup.pushed().toSorted()).toEqual(everyone);
    // The function starts a second after the request, and a chunk takes a second.
    expect(setup.time.now - startMs).toBeLessThan(2500);
  });

  test('that Lambda does not take are started again, with growing pauses', async () => {
    const setup = deliverySetup({ audience });
    const { outcome, starts } = sendWith(setup, async (slice, attempt) => {
      if (attempt === 4) setup.deliverElsewhere(slice);
      return attempt === 4;
    });
    expect(resultOf(await outcome)).toMatchObject({ delivered: 9 });
    const ofOne = starts.filter(({ slice }) => slice === 1).map(({ at }) => at);
    expect(ofOne).toEqual([0, 150, 450, 1050]);
    expect(setup.calls).not.toContain('not taken 1');
  });

  test('that Lambda never takes are delivered here, and reported', async () => {
    const setup = deliverySetup({ audience });
    const { outcome } = sendWith(setup, refused);
    expect(resultOf(await outcome)).toMatchObject({ delivered: 9 });
    expect(setup.pushed()).toEqual(everyone);
    expect(setup.chunks[1]!.readAt - startMs).toBeGreaterThanOrEqual(3000);
    expect(setup.calls).toEqual(expect.arrayContaining(['not taken 1', 'not taken 2']));
  });

  test('that Lambda takes and loses are delivered here after 3 s', async () => {
    const setup = deliverySetup({ audience });
    expect(resultOf(await sendWith(setup, lost).outcome)).toMatchObject({ delivered: 9 });
    expect(setup.pushed()).toEqual(everyone);
    expect(setup.chunks[1]!.readAt - startMs).toBeGreaterThanOrEqual(3000);
  });

  test('of which the end of one cannot be stored are not known', async () => {
    const setup = deliverySetup({ audience });
    const { slices } = setup.deps;
    const write: typeof slices.write = (key, one, signal) => {
      if (key.slice === 0 && one.ended) return Promise.reject(throttled);
      return slices.write(key, one, signal);
    };
    const deps = { ...setup.deps, slices: { ...slices, write } };
    const { outcome } = sendWith(setup, delivered(setup), {}, deps);
    await expect(outcome).rejects.toMatchObject(unknown);
    expect(setup.pushed().toSorted()).toEqual(everyone);
  });

  test('that nobody has when the time is over are ended: nobody reaches them later', async () => {
    const setup = deliverySetup({ audience });
    const startedAt = new Date(startMs - 20_500);
    const { outcome } = sendWith(setup, refused, { startedAt, idempotencyKey: 'order-1' });
    const first = await outcome;
    const { attempted, unreached } = resultOf(first);
    // Nobody has counted the subscribers: the audience says 60,000.
    expect([attempted, unreached]).toEqual([3, 59_997]);
    const stored = setup.database.items('Deliveries').filter(({ leasedBy }) => leasedBy);
    expect(stored.map(({ ended }) => ended)).toEqual(['delivered', 'delivered', 'delivered']);
    await setup.until(60_000);
    expect(await setup.send({ ...large, idempotencyKey: 'order-1' })).toEqual(first);
    expect(setup.pushed()).toHaveLength(3);
  });

  test('of which one cannot be read are delivered as far as possible, in more than one try', async () => {
    const setup = deliverySetup({ audience });
    const { audiences } = setup.deps;
    const tries: number[] = [];
    const failing: typeof audiences.everyone = async (project, range, options) => {
      if (range.from === 0 || tries.length >= 3) return audiences.everyone(project, range, options);
      tries.push(setup.time.now);
      throw throttled;
    };
    const deps = { ...setup.deps, audiences: { ...audiences, everyone: failing } };
    expect(resultOf(await sendWith(setup, refused, {}, deps).outcome)).toMatchObject({
      delivered: 9,
    });
    const pauses = tries.slice(1).map((at, index) => at - tries[index]!);
    expect(pauses.every((ms) => ms >= 100)).toBe(true);
  });

  test('whose function dies during a chunk are not known, and a repetition gets the counts: nobody is pushed to twice', async () => {
    const setup = deliverySetup({ audience });
    const keyed = { idempotencyKey: 'order-1' };
    const { outcome } = sendWith(
      setup,
      async (slice) => {
        if (slice.slice === 2) setup.deliverElsewhere(slice);
        else {
          const soFar = { ...noCounts, attempted: 1, delivered: 1 };
          const startPushing = fakePusher((chunk) => ({ ...setup.push(chunk), ...dying(soFar) }));
          void setup.startSlice(slice, 'dead', { ...setup.deps, startPushing }, 29_000);
        }
        return true;
      },
      keyed,
    );
    await expect(outcome).rejects.toMatchObject(unknown);
    expect(setup.time.now - startMs).toBeLessThan(27_000);
    await setup.until(60_000);
    expect(resultOf(await setup.send({ ...large, ...keyed }))).toMatchObject({
      ...{ attempted: 9, delivered: 7, failed: 2, failures: { interrupted: 2 } },
    });
    expect(setup.pushed().toSorted()).toEqual(everyone);
  });

  test.each([
    ['', 9000],
    [', also after the last push', 23_000],
  ])('that take longer than this one are awaited%s', async (_, ms) => {
    const setup = deliverySetup({ audience });
    const startPushing = fakePusher((chunk) => ({
      ...setup.push(chunk),
      done: setup.time.sleep(ms).then(() => allDelivered(chunk)),
    }));
    const { outcome } = sendWith(setup, async (slice) => {
      void setup.startSlice(slice, 'slow', { ...setup.deps, startPushing }, 29_000);
      return true;
    });
    expect(resultOf(await outcome)).toMatchObject({ delivered: 9 });
    expect(setup.time.now - startMs).toBeLessThan(ms + 2000);
  });

  const find = () => Promise.reject(throttled);

  test('whose states cannot be read are tried here: the write says what has become of them', async () => {
    const setup = deliverySetup({ audience });
    const deps = { ...setup.deps, slices: { ...setup.deps.slices, find } };
    const { outcome } = sendWith(
      setup,
      async (slice) => {
        if (slice.slice === 1) setup.deliverElsewhere(slice);
        return true;
      },
      {},
      { ...deps, startPushing: fakePusher(setup.push) },
    );
    expect(resultOf(await outcome)).toMatchObject({ attempted: 9, delivered: 9 });
    expect(setup.pushed().toSorted()).toEqual(everyone);
    // The slice that another function has is tried once: its lease says that it is alive.
    expect(setup.calls.filter((call) => call === 'refused')).toHaveLength(1);
  });

  test.each([
    ['cancelled if no function has claimed any', lost, { code: 'unavailable' }, 0],
    ['kept if a function may have pushed', undefined, unknown, 1],
  ])('of which this request has attempted nobody are %s', async (_, start, error, sent) => {
    const setup = deliverySetup({ audience, counts: { ...noCounts, unreached: 3 } });
    const dies = async (slice: Slice) => {
      const startPushing = fakePusher((chunk) => ({ ...setup.push(chunk), ...dying() }));
      void setup.startSlice(slice, `dead ${slice.slice}`, { ...setup.deps, startPushing }, 29_000);
      return true;
    };
    const deps = { ...setup.deps, slices: { ...setup.deps.slices, find } };
    await expect(sendWith(setup, start ?? dies, {}, deps).outcome).rejects.toMatchObject(error);
    expect(await setup.sent()).toBe(sent);
  });
});

describe('a call to Lambda that has no response', () => {
  /** Until its signal aborts. */
  const hanging = (signal: AbortSignal) =>
    new Promise<boolean>((resolve) => {
      signal.addEventListener('abort', () => resolve(false));
    });

  test('is made again after 2 s, and its slice is delivered here after 3 s', async () => {
    const setup = deliverySetup({ audience });
    const at: number[] = [];
    const starter = {
      start(slice: Slice, signal: AbortSignal) {
        if (slice.slice === 1) at.push(setup.time.now - startMs - 1000);
        return hanging(signal);
      },
    };
    const outcome = await setup.send(large, { ...setup.deps, starter });
    expect(resultOf(outcome)).toMatchObject({ delivered: 9 });
    expect(at.slice(0, 2)).toEqual([0, 2150]);
    expect(setup.time.now - startMs).toBeLessThan(8000);
  });

  test('does not keep the response from a caller who does not wait', async () => {
    const setup = deliverySetup({ audience });
    let calls = 0;
    const starter = {
      start(slice: Slice, signal: AbortSignal) {
        calls += 1;
        if (calls <= 3) return hanging(signal);
        setup.deliverElsewhere(slice);
        return Promise.resolve(true);
      },
    };
    const call = { ...large, respondAsync: true };
    const outcome = await setup.send(call, { ...setup.deps, starter });
    expect(outcome).toMatchObject({ kind: 'accepted' });
    expect(setup.time.now - startMs).toBeLessThan(4000);
    await setup.until(60_000);
    expect(setup.pushed().toSorted()).toEqual(everyone);
  });
});

describe('slices for a caller who does not wait', () => {
  const asynchronous = { respondAsync: true, idempotencyKey: 'order-1' };

  test('are never delivered here, and accepted when Lambda has each', async () => {
    const setup = deliverySetup({ audience });
    expect(await sendWith(setup, lost, asynchronous).outcome).toMatchObject({ kind: 'accepted' });
    expect(setup.time.now - startMs).toBeLessThan(2000);
    expect(setup.pushed()).toEqual([]);
  });

  test('that Lambda refuses for a while are started again, and accepted then', async () => {
    const setup = deliverySetup({ audience });
    const start = async (slice: Slice) => {
      const isTaken = slice.slice !== 1 || setup.time.now > startMs + 15_000;
      if (isTaken) setup.deliverElsewhere(slice);
      return isTaken;
    };
    expect(await sendWith(setup, start, asynchronous).outcome).toMatchObject({ kind: 'accepted' });
    expect(setup.time.now - startMs).toBeGreaterThan(15_000);
    await setup.until(60_000);
    expect(setup.pushed().toSorted()).toEqual(everyone);
  });

  test('that run although Lambda says that it has not taken them are accepted', async () => {
    const setup = deliverySetup({ audience });
    const { outcome } = sendWith(
      setup,
      async (slice, attempt) => {
        if (attempt === 1) setup.deliverElsewhere(slice);
        return false;
      },
      asynchronous,
    );
    expect(await outcome).toMatchObject({ kind: 'accepted' });
    expect(setup.time.now - startMs).toBeLessThan(6000);
  });

  test('of which Lambda takes none are cancelled, also if it is about to run one', async () => {
    const setup = deliverySetup({ audience });
    const { outcome } = sendWith(setup, async ({ slice }) => slice === 2, asynchronous);
    await expect(outcome).rejects.toMatchObject({ code: 'unavailable' });
    expect(await setup.sent()).toBe(0);
    expect(setup.notifications()).toEqual([]);
    expect(setup.calls).toEqual(['not taken 0', 'not taken 1']);
    expect(setup.time.now - startMs).toBeLessThan(27_000);
  });

  test('of which functions have some only are not known; a repetition starts the others', async () => {
    const setup = deliverySetup({ audience });
    const start = async (slice: Slice) => {
      if (slice.slice !== 1) setup.deliverElsewhere(slice);
      return slice.slice !== 1;
    };
    await expect(sendWith(setup, start, asynchronous).outcome).rejects.toMatchObject(unknown);
    await setup.until(40_000);
    expect(await setup.send({ ...large, ...asynchronous })).toMatchObject({ kind: 'accepted' });
    await setup.until(60_000);
    expect(setup.pushed().toSorted()).toEqual(everyone);
    expect(await setup.sent()).toBe(1);
  });
});

test('slices that Lambda does not take are not delivered once the project is known to be deleted', async () => {
  const setup = deliverySetup({ audience });
  const projects = { refresh: async () => undefined };
  const deps = { ...setup.deps, projects };
  await sendWith(setup, refused, {}, deps).outcome;
  // The project is read again while the second slice is delivered.
  expect(setup.pushed()).not.toContain('/6');
  // Each has ended, the third without a push.
  expect(setup.calls.filter((call) => call === 'delivered')).toHaveLength(3);
  expect(setup.time.now - startMs).toBeLessThan(27_000);
});

const idempotencyKey = 'order-1';
const inProgress = { code: 'request_in_progress' };

/** Sends with the key. @returns the outcome, or the error. */
const sendKeyed = (setup: DeliverySetup, change: Parameters<DeliverySetup['send']>[0] = {}) =>
  setup.send({ idempotencyKey, ...change }).catch((error: unknown) => error as never);

/** Starts a first request that dies with one push accepted of three. The functions that it starts never run. */
async function firstDied(setup: DeliverySetup, change: Parameters<DeliverySetup['send']>[0] = {}) {
  const soFar = { ...noCounts, attempted: 1, delivered: 1 };
  const startPushing = fakePusher((chunk) => ({ ...setup.push(chunk), ...dying(soFar) }));
  const isDead = () => setup.time.now >= startMs + 5000;
  const sleep: typeof setup.deps.sleep = async (ms, signal) => {
    await setup.deps.sleep(ms, signal);
    return isDead() ? new Promise(() => {}) : undefined;
  };
  const starter = { start: async () => true };
  const dead = { ...setup.deps, startPushing, sleep, starter };
  void setup.startSend({ idempotencyKey, ...change }, dead);
  await setup.until(10_000);
}

describe('a repeated request', () => {
  test.each<[string, ParsedSendRequest, ParsedSendRequest]>([
    ['text', { title: 'T' }, { title: 'U' }],
    ['condition', { title: 'T' }, { title: 'T', channels: ['news'] }],
    ['value', toAda('Ada'), toAda('Grace')],
  ])('with another %s is refused', async (_, one, other) => {
    const setup = deliverySetup();
    await sendKeyed(setup, { request: one });
    expect(await sendKeyed(setup, { request: other })).toMatchObject({
      code: 'idempotency_key_reused',
    });
    expect(await setup.sent()).toBe(1);
  });

  test('with another value that no placeholder uses is the same', async () => {
    const setup = deliverySetup();
    const first = await sendKeyed(setup, { request: toAda('Ada', 'a') });
    expect(await sendKeyed(setup, { request: toAda('Ada', 'b') })).toEqual(first);
  });

  test('has to wait while the first is in progress', async () => {
    const setup = deliverySetup();
    await firstDied(setup);
    // The first is known to be over 30 s after its send.
    expect(await sendKeyed(setup)).toMatchObject({ ...inProgress, retryAfterSeconds: 21 });
    expect(await setup.sent()).toBe(1);
  });

  test('continues an interrupted first after that: what may have been pushed is not pushed again', async () => {
    const setup = deliverySetup({ audience: recipients(9) });
    await firstDied(setup, { audience: { subscribers: 60_000 } });
    await setup.until(32_000);
    const outcome = resultOf(await sendKeyed(setup, { audience: { subscribers: 60_000 } }));
    expect(outcome).toMatchObject({
      ...{ attempted: 9, delivered: 7, failed: 2, failures: { interrupted: 2 } },
    });
    expect(setup.pushed().toSorted()).toEqual(recipients(9).map(({ path }) => path));
    expect(await setup.sent()).toBe(1);
  });

  test('gets the counts of an interrupted first that had read everyone', async () => {
    const setup = deliverySetup();
    await firstDied(setup);
    await setup.until(32_000);
    expect(resultOf(await sendKeyed(setup))).toMatchObject({
      ...{ attempted: 3, delivered: 1, failed: 2, failures: { interrupted: 2 } },
    });
    expect(setup.pushed()).toHaveLength(3);
  });

  test('of two at the same time, one continues and the other waits', async () => {
    const setup = deliverySetup({ audience: recipients(9) });
    await firstDied(setup, { audience: { subscribers: 60_000 } });
    await setup.until(32_000);
    const outcomes = await setup.time.until(
      Promise.all(
        [1, 2].map(() =>
          setup
            .startSend({ idempotencyKey, audience: { subscribers: 60_000 } })
            .catch((error: unknown) => error as { code: string }),
        ),
      ),
    );
    expect(outcomes.filter((outcome) => 'kind' in outcome)).toHaveLength(1);
    expect(outcomes.filter((outcome) => 'code' in outcome)).toMatchObject([inProgress]);
    expect(new Set(setup.pushed()).size).toBe(setup.pushed().length);
  });

  test('has to wait while the first may still cancel what it has not attempted', async () => {
    const setup = deliverySetup({ counts: { ...noCounts, unreached: 3 }, chunkMs: 21_500 });
    const cancel = () => new Promise<never>(() => {});
    const waiting = { ...setup.deps, sends: { ...setup.deps.sends, cancel } };
    void setup.startSend({ idempotencyKey }, waiting).catch(() => {});
    await setup.until(24_000);
    expect(await sendKeyed(setup)).toMatchObject(inProgress);
  });

  test('pushes nothing more if the project was deleted since', async () => {
    const setup = deliverySetup({ audience: recipients(9) });
    await firstDied(setup, { audience: { subscribers: 60_000 } });
    const before = setup.pushed();
    await setup.until(40_000);
    const projects = { refresh: async () => undefined };
    // Functions read the project themselves.
    const deleted = { ...setup.deps, projects, starter: { start: async () => true } };
    const again = { idempotencyKey, audience: { subscribers: 60_000 } };
    await setup.send(again, deleted).catch(() => {});
    expect(setup.pushed()).toEqual(before);
  });

  test('has to wait a second if the first has just been cancelled', async () => {
    const setup = deliverySetup();
    await sendKeyed(setup);
    const [item] = setup.database.items('Deliveries').filter(({ leasedBy }) => leasedBy);
    setup.database.put('Deliveries', { ...item, ended: 'cancelled' });
    expect(await sendKeyed(setup)).toMatchObject({ ...inProgress, retryAfterSeconds: 1 });
  });

  test('gets the counts of a first that was stopped, also if nothing was attempted', async () => {
    const setup = deliverySetup({ counts: { ...noCounts, unreached: 3 } });
    setup.time.at(startMs + 1500, () => {
      const [{ notificationId }] = setup.notifications() as [{ notificationId: string }];
      void setup.slices.stop({ notificationId, slice: 0, expiresAt: 5e9 }, setup.time.now);
    });
    const first = await sendKeyed(setup);
    expect(resultOf(first)).toMatchObject({ attempted: 0, unreached: 3, status: 'stopped' });
    expect(setup.calls).toContain('responded, 3 unreached, stopped');
    expect(await sendKeyed(setup)).toEqual(first);
  });
});

describe('a repetition of a request that has sent nothing', () => {
  const busy = { code: 'unavailable' };
  const failing = () => Promise.reject(throttled);
  const everyone = { result: { attempted: 3, delivered: 3 } };

  test('sends to everyone, although the first could not be cancelled', async () => {
    const setup = deliverySetup({ counts: { ...noCounts, unreached: 3 }, chunkMs: 21_500 });
    const { deps } = setup;
    const first = { ...deps, sends: { ...deps.sends, cancel: failing } };
    await expect(setup.send({ idempotencyKey }, first)).rejects.toMatchObject(busy);
    await setup.until(40_000);
    const startPushing = fakePusher((chunk) => ({ ...setup.push(chunk), ...accepting(chunk) }));
    const again = setup.send({ idempotencyKey }, { ...deps, startPushing });
    expect(await again).toMatchObject(everyone);
    expect(await setup.sent()).toBe(1);
  });

  test('sends to everyone, although the first has begun without a response', async () => {
    const setup = deliverySetup();
    const { sends } = setup.deps;
    const begin: typeof sends.begin = async (...call) => {
      await sends.begin(...call);
      throw throttled;
    };
    const first = { ...setup.deps, sends: { ...sends, begin, cancel: failing } };
    await expect(setup.send({ idempotencyKey }, first)).rejects.toMatchObject(busy);
    await setup.until(40_000);
    expect(await sendKeyed(setup)).toMatchObject(everyone);
    expect(await setup.sent()).toBe(1);
  });

  test('is told to try again if it attempts nobody either, and leaves the send to the next one', async () => {
    const setup = deliverySetup({ counts: { ...noCounts, unreached: 3 }, chunkMs: 21_500 });
    const { deps } = setup;
    const first = { ...deps, sends: { ...deps.sends, cancel: failing } };
    await expect(setup.send({ idempotencyKey }, first)).rejects.toMatchObject(busy);
    await setup.until(40_000);
    await expect(setup.send({ idempotencyKey })).rejects.toMatchObject(busy);
    await setup.until(80_000);
    const startPushing = fakePusher((chunk) => ({ ...setup.push(chunk), ...accepting(chunk) }));
    expect(await setup.send({ idempotencyKey }, { ...deps, startPushing })).toMatchObject(everyone);
    expect(await setup.sent()).toBe(1);
  });

  test('takes nothing over when its own time is over', async () => {
    const setup = deliverySetup({ audience: recipients(9) });
    await firstDied(setup, { audience: { subscribers: 60_000 } });
    await setup.until(40_000);
    const before = setup.database.items('Deliveries');
    const startedAt = new Date(setup.time.now - 22_000);
    expect(await sendKeyed(setup, { startedAt })).toMatchObject(busy);
    expect(setup.database.items('Deliveries')).toEqual(before);
    // It is not even the owner of the send.
    expect(await sendKeyed(setup)).toMatchObject({ kind: 'sent', result: { attempted: 9 } });
  });
});

describe('a repetition of an asynchronous request', () => {
  const first = { respondAsync: true };

  test('has to wait until functions have what Lambda has accepted', async () => {
    const setup = deliverySetup({ audience: recipients(9) });
    const events: Slice[] = [];
    const starter = { start: async (slice: Slice) => events.push(slice) > 0 };
    await setup.send({ idempotencyKey, ...first }, { ...setup.deps, starter });
    expect(await sendKeyed(setup, first)).toMatchObject({ ...inProgress, retryAfterSeconds: 2 });
    for (const slice of events) setup.deliverElsewhere(slice);
    expect(await sendKeyed(setup, first)).toMatchObject({ kind: 'accepted' });
  });

  test('starts again what Lambda has accepted and lost', async () => {
    const setup = deliverySetup({ audience: recipients(9) });
    const loses = { ...setup.deps, starter: { start: async () => true } };
    await setup.send({ idempotencyKey, ...first }, loses);
    await setup.until(40_000);
    // Lambda loses it once more.
    await expect(setup.send({ idempotencyKey, ...first }, loses)).rejects.toMatchObject(inProgress);
    await setup.until(100_000);
    expect(await sendKeyed(setup, first)).toMatchObject({ kind: 'accepted' });
    await setup.until(120_000);
    expect(setup.pushed().toSorted()).toEqual(recipients(9).map(({ path }) => path));
  });
});

/** A chunk whose pushes are all accepted at once. */
function accepting(chunk: AddedChunk) {
  return { done: Promise.resolve(allDelivered(chunk)) };
}

describe('the form of the first response', () => {
  test('has the present status while functions have all slices', async () => {
    const setup = deliverySetup();
    const first = { respondAsync: true };
    await sendKeyed(setup, first);
    expect(await sendKeyed(setup, first)).toMatchObject({ kind: 'accepted', status: 'sent' });
  });

  test('is asynchronous also where a repeated request hands the slices over, with their conditions', async () => {
    const setup = deliverySetup();
    const request = { title: 'T', channels: ['news'], seenWithinDays: 1 };
    const { deps } = setup;
    const die: typeof deps.sends.begin = async (...call) => {
      await deps.sends.begin(...call);
      return new Promise(() => {});
    };
    const abortAfter = () => new AbortController().signal;
    const dead = { ...deps, abortAfter, sends: { ...deps.sends, begin: die } };
    const first = { request, respondAsync: true, idempotencyKey };
    void setup.startSend(first, dead);
    await setup.until(10_000);
    expect(await sendKeyed(setup, first)).toMatchObject(inProgress);
    await setup.until(32_000);
    expect(await sendKeyed(setup, { request })).toMatchObject({
      ...{ kind: 'accepted', status: 'sending' },
    });
    expect(setup.started).toMatchObject([
      { conditions: { channels: ['news'], seenWithinDays: 1 }, sentAt: startMs + 1000 },
    ]);
  });
});

function toAda(name: string, unused = name) {
  return { title: '{{name}}', recipients: [{ userId: 'ada', values: { name, unused } }] };
}

test.each([
  ['first', false],
  ['repeated', true],
])(
  'a %s request that was busy since its last look does not say that nothing was sent',
  async (_, isRepeated) => {
    // Nobody is in slice 0, which the request delivers.
    const setup = deliverySetup({ audience: recipients(9).slice(3) });
    const { audiences, sends } = setup.deps;
    const call = { idempotencyKey, audience: { subscribers: 60_000 } };
    const cancel = () => Promise.reject(throttled);
    if (isRepeated) {
      const begin: typeof sends.begin = async (...begun) => {
        await sends.begin(...begun);
        throw throttled;
      };
      const first = setup.send(call, { ...setup.deps, sends: { ...sends, begin, cancel } });
      await expect(first).rejects.toMatchObject({ code: 'unavailable' });
      await setup.until(40_000);
    }
    const startedAt = setup.time.now;
    const starter = {
      // Lambda runs slice 1 late, and loses slice 2.
      async start(slice: Slice) {
        if (slice.slice === 1) setup.time.at(startedAt + 8000, () => setup.deliverElsewhere(slice));
        return true;
      },
    };
    // The request tries to read slice 2 until the time of the last push.
    const everyone: typeof audiences.everyone = async (project, range, options) => {
      if (range.from > 0) throw throttled;
      return audiences.everyone(project, range, options);
    };
    const reads = { ...audiences, everyone };
    const deps = { ...setup.deps, audiences: reads, starter, sends: { ...sends, cancel } };
    const outcome = await setup.send(call, deps).catch(({ code }) => ({ code }));
    expect(setup.pushed()).toHaveLength(3);
    expect(outcome).toMatchObject({ result: { attempted: 3, delivered: 3 } });
  },
);

test('a slice that Lambda does not take is reported once, however often it is tried here', async () => {
  const setup = deliverySetup({ audience });
  const { audiences } = setup.deps;
  const everyone: typeof audiences.everyone = async (project, range, options) => {
    if (range.from === 0) return audiences.everyone(project, range, options);
    throw new Error('fault');
  };
  const deps = { ...setup.deps, audiences: { ...audiences, everyone } };
  await sendWith(setup, refused, {}, deps).outcome;
  expect(setup.calls.filter((call) => call === 'not taken 1')).toHaveLength(1);
});

test('a slice of which this request has attempted nobody is ended, also if it was left just before', async () => {
  const setup = deliverySetup({ audience: recipients(6) });
  const { slices } = setup.deps;
  // The end of the slice of this request is stored after 25 s.
  const write: typeof slices.write = async (key, one, signal) => {
    const at = setup.time.now - startMs;
    if (key.slice === 0 && at > 21_900 && at < 24_500) throw throttled;
    return slices.write(key, one, signal);
  };
  const startPushing = fakePusher((chunk) => ({
    ...setup.push(chunk),
    done: setup.time
      .sleep(startMs + 22_100 - setup.time.now)
      .then(() => ({ ...noCounts, unreached: chunk.recipients.length })),
  }));
  const deps = { ...setup.deps, startPushing, slices: { ...slices, write } };
  expect(resultOf(await setup.send(large, deps))).toMatchObject({ attempted: 4, delivered: 4 });
});

test('a repetition whose reads take long does not say that a function has a slice whose lease has run out', async () => {
  const setup = deliverySetup();
  const first = { idempotencyKey, respondAsync: true };
  const sleep: typeof setup.deps.sleep = async (ms, signal) => {
    await setup.deps.sleep(ms, signal);
    // The function dies.
    if (setup.time.now > startMs + 3000) await new Promise(() => {});
  };
  const startPushing = fakePusher((chunk) => ({ ...setup.push(chunk), ...dying() }));
  const starter = {
    async start(slice: Slice) {
      void setup.startSlice(slice, 'dead', { ...setup.deps, startPushing, sleep });
      return true;
    },
  };
  await setup.send(first, { ...setup.deps, starter });
  await setup.until(55_000);
  const { slices } = setup.deps;
  const find: typeof slices.find = async (...call) => {
    if (setup.time.now < startMs + 70_000) throw throttled;
    return slices.find(...call);
  };
  const loses = { start: async () => true };
  const deps = { ...setup.deps, starter: loses, slices: { ...slices, find } };
  await expect(setup.send(first, deps)).rejects.toMatchObject(inProgress);
});

test('a slice that nobody has is ended as soon as no push may start', async () => {
  const setup = deliverySetup({ audience });
  const { audiences } = setup.deps;
  const everyone: typeof audiences.everyone = async (project, range, options) => {
    if (range.from === 0) return audiences.everyone(project, range, options);
    throw throttled;
  };
  const deps = { ...setup.deps, audiences: { ...audiences, everyone } };
  const result = resultOf(await sendWith(setup, refused, {}, deps).outcome);
  expect(result).toMatchObject({ attempted: 3, unreached: expect.any(Number) });
  expect(setup.time.now - startMs).toBeLessThan(22_500);
});

test('a slice that cannot be read does not keep this request from the others', async () => {
  const setup = deliverySetup({ audience });
  const { audiences } = setup.deps;
  const third = audience.slice(6).map(({ path }) => path);
  const everyone: typeof audiences.everyone = async (project, range, options) => {
    const read = await audiences.everyone(project, range, options);
    if (read.recipients.some(({ path }) => path === '/3')) throw new Error('fault');
    return read;
  };
  const deps = { ...setup.deps, audiences: { ...audiences, everyone } };
  await sendWith(setup, refused, {}, deps).outcome;
  expect(setup.pushed()).toEqual(expect.arrayContaining(third));
});
