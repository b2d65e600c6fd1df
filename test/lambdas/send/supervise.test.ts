import { sendTimeline } from '../../../contract/infrastructure/delivery.ts';
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

  test('are read a second before the end, although that of the own slice cannot be stored', async () => {
    const setup = deliverySetup({ audience });
    const { slices } = setup.deps;
    const write: typeof slices.write = (key, one, signal) => {
      if (key.slice === 0 && one.ended) return Promise.reject(throttled);
      return slices.write(key, one, signal);
    };
    const looks: number[] = [];
    const find: typeof slices.find = (...args) => {
      looks.push(setup.time.now - startMs);
      return slices.find(...args);
    };
    const deps = { ...setup.deps, slices: { ...slices, write, find } };
    const { outcome } = sendWith(
      setup,
      async (slice) => {
        setup.deliverElsewhere(slice);
        return true;
      },
      {},
      deps,
    );
    expect(resultOf(await outcome)).toMatchObject({ attempted: 9, delivered: 9 });
    expect(looks[0]).toBeLessThanOrEqual(sendTimeline.endMs - 1000);
  });

  test('are unreached where the time ends', async () => {
    const setup = deliverySetup({ audience });
    const startedAt = new Date(startMs - 20_500);
    const { outcome } = sendWith(setup, refused, { startedAt });
    const { attempted, unreached } = resultOf(await outcome);
    // Nobody has counted the subscribers: the audience says 60,000.
    expect([attempted, unreached]).toEqual([3, 59_997]);
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

  test('whose function dies during a chunk have the counts that it stored: nobody is pushed to twice', async () => {
    const setup = deliverySetup({ audience });
    const { outcome } = sendWith(setup, async (slice) => {
      if (slice.slice === 2) setup.deliverElsewhere(slice);
      else {
        const soFar = { ...noCounts, attempted: 1, delivered: 1 };
        const startPushing = fakePusher((chunk) => ({ ...setup.push(chunk), ...dying(soFar) }));
        void setup.startSlice(slice, 'dead', { ...setup.deps, startPushing }, 29_000);
      }
      return true;
    });
    expect(resultOf(await outcome)).toMatchObject({
      ...{ attempted: 9, delivered: 7, failed: 2, failures: { interrupted: 2 } },
    });
    expect(setup.pushed().toSorted()).toEqual(everyone);
    expect(setup.time.now - startMs).toBeLessThan(27_000);
  });

  test('that take longer than this one are awaited', async () => {
    const setup = deliverySetup({ audience });
    const startPushing = fakePusher((chunk) => ({
      ...setup.push(chunk),
      done: setup.time.sleep(9000).then(() => allDelivered(chunk)),
    }));
    const { outcome } = sendWith(setup, async (slice) => {
      void setup.startSlice(slice, 'slow', { ...setup.deps, startPushing }, 29_000);
      return true;
    });
    expect(resultOf(await outcome)).toMatchObject({ delivered: 9 });
    expect(setup.time.now - startMs).toBeLessThan(11_000);
  });

  const find = () => Promise.reject(throttled);

  test('whose states cannot be read are tried here, and those that functions have are unreached', async () => {
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

  test('are not cancelled while a function may have pushed', async () => {
    const setup = deliverySetup({ audience, counts: { ...noCounts, unreached: 3 } });
    const deps = { ...setup.deps, slices: { ...setup.deps.slices, find } };
    expect(resultOf(await sendWith(setup, lost, {}, deps).outcome)).toMatchObject({ attempted: 0 });
    expect(await setup.sent()).toBe(1);
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
  const asynchronous = { respondAsync: true };

  test('are delivered here until the time of the request if Lambda does not take them', async () => {
    const setup = deliverySetup({ audience });
    const start = async ({ slice }: Slice) => slice !== 1;
    const { outcome } = sendWith(setup, start, asynchronous);
    expect(await outcome).toMatchObject({ kind: 'accepted', status: 'sending' });
    expect(setup.pushed()).toEqual(['/3', '/4', '/5']);
    expect(setup.chunks[0]!.times.lastPushAt).toBe(startMs + 22_000);
    // A retry that comes later than that of a caller who waits is one of a function.
    expect(setup.chunks[0]!.isAwaited).toBe(false);
  });

  test('are not ended here: what is left is the function that takes them later', async () => {
    const setup = deliverySetup({ audience: recipients(36), chunkMs: 6000 });
    const start = async (slice: Slice) => {
      const isTaken = slice.slice !== 1 || setup.time.now > startMs + 15_000;
      if (isTaken) setup.deliverElsewhere(slice);
      return isTaken;
    };
    const { outcome } = sendWith(setup, start, asynchronous);
    expect(await outcome).toMatchObject({ kind: 'accepted' });
    // Two small chunks, and nothing that could not be pushed in time.
    const here = setup.chunks.filter(({ times }) => times.lastPushAt === startMs + 22_000);
    expect(here.map(({ recipients: { length } }) => length)).toEqual([4, 4]);
    const [notification] = setup.notifications();
    const [slice] = await setup.slices.find(notification!.notificationId as string, [1]);
    expect(slice).toMatchObject({ ended: undefined, counts: { attempted: 8, unreached: 0 } });
    await setup.until(120_000);
    expect(setup.pushed().toSorted()).toEqual(
      recipients(36)
        .map(({ path }) => path)
        .toSorted(),
    );
  });

  test.each([true, false])(
    'need no further request once functions have all of them: %s',
    async (isTaken) => {
      const setup = deliverySetup({ audience, counts: noCounts });
      const everyone = () => Promise.reject(throttled);
      const deps = { ...setup.deps, audiences: { ...setup.deps.audiences, everyone } };
      const keyed = { ...asynchronous, idempotencyKey: 'order-1' };
      const start = async ({ slice }: Slice) => slice !== 1 || isTaken;
      await sendWith(setup, start, keyed, deps).outcome;
      const [key] = setup.database.items('Notifications').filter(({ sendId }) => sendId);
      expect(key!.handedOver).toBe(isTaken ? true : undefined);
    },
  );

  test('of which nobody has begun any are cancelled', async () => {
    const setup = deliverySetup({ audience });
    const everyone = () => Promise.reject(throttled);
    const deps = { ...setup.deps, audiences: { ...setup.deps.audiences, everyone } };
    const { outcome } = sendWith(setup, refused, asynchronous, deps);
    await expect(outcome).rejects.toMatchObject({ code: 'unavailable' });
    expect(await setup.sent()).toBe(0);
    expect(setup.notifications()).toEqual([]);
  });
});

test('slices that Lambda does not take are not delivered once the project is known to be deleted', async () => {
  const setup = deliverySetup({ audience });
  const projects = { refresh: async () => undefined };
  const deps = { ...setup.deps, projects };
  await sendWith(setup, refused, {}, deps).outcome;
  // The project is read again while the second slice is delivered.
  expect(setup.pushed()).not.toContain('/6');
  // Two slices have ended. Nobody tries to deliver the third.
  expect(setup.calls.filter((call) => call === 'delivered')).toHaveLength(2);
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
    void setup.startSend({ idempotencyKey }, waiting);
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
  const never = { start: async () => false };

  test('does not trust the lease of a request that delivers here, and may be dead', async () => {
    const setup = deliverySetup({ audience: recipients(9) });
    const startPushing = fakePusher((chunk) => ({ ...setup.push(chunk), ...dying() }));
    const dead = { ...setup.deps, startPushing, starter: never };
    void setup.startSend({ idempotencyKey, ...first }, dead);
    await setup.until(10_000);
    expect(await sendKeyed(setup, first)).toMatchObject(inProgress);
    await setup.until(40_000);
    // Lambda refuses this one too: it continues here, and the next one does.
    await setup.send({ idempotencyKey, ...first }, { ...setup.deps, starter: never });
    await setup.until(90_000);
    await sendKeyed(setup, first);
    await setup.until(200_000);
    expect(setup.pushed().toSorted()).toEqual(recipients(9).map(({ path }) => path));
  });

  test('starts again what Lambda has accepted and lost', async () => {
    const setup = deliverySetup({ audience: recipients(9) });
    const lost = { start: async () => true };
    await setup.send({ idempotencyKey, ...first }, { ...setup.deps, starter: lost });
    expect(await sendKeyed(setup, first)).toMatchObject({ kind: 'accepted', status: 'sending' });
    expect(setup.started).toEqual([]);
    await setup.until(40_000);
    await sendKeyed(setup, first);
    await setup.until(60_000);
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
    const waiting = deliverySetup({ overrides: { starter: { start: async () => true } } });
    await sendKeyed(waiting, first);
    expect(await sendKeyed(waiting, first)).toMatchObject({ status: 'sending' });
    expect(waiting.pushed()).toEqual([]);
  });

  test('is asynchronous also where a repeated request hands the slices over, with their conditions', async () => {
    const setup = deliverySetup();
    const request = { title: 'T', channels: ['news'], seenWithinDays: 1 };
    const { deps } = setup;
    const die: typeof deps.sends.begin = async (...call) => {
      await deps.sends.begin(...call);
      return new Promise(() => {});
    };
    const dead = { ...deps, sends: { ...deps.sends, begin: die } };
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
