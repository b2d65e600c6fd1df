import { noCounts } from '../../../contract/wire/counts.ts';
import type { ParsedSendRequest } from '../../../contract/wire/notification.ts';
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
