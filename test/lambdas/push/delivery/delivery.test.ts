import { setTimeout as sleep } from 'node:timers/promises';
import { vapidSigner } from '../../../../lambdas/push/crypto/vapid.ts';
import {
  type Broadcast,
  type DeliverySettings,
  delivery,
  inFlight,
} from '../../../../lambdas/push/delivery/delivery.ts';
import { pushTransport } from '../../../../lambdas/push/transport/transport.ts';
import { createBrowserKeys } from '../../../../local/push-service/browser-keys.ts';
import { type PushService, startPushService } from '../../../../local/push-service/push-service.ts';
import { countingAudience } from '../../../fixtures/audience.ts';
import { keyPair, subscription } from '../../../fixtures/subscription.ts';

const vapid = keyPair();
const message = Buffer.from('{"title":"Hello"}');
const browserKeys = createBrowserKeys();

let services: PushService[] = [];

async function pushService(): Promise<PushService> {
  const service = await startPushService();
  services.push(service);
  return service;
}

afterEach(async () => {
  await Promise.all(services.map((service) => service.stop()));
  services = [];
});

function subscribe(service: PushService, number = 1) {
  const options = { applicationServerKey: vapid.publicKey, keys: browserKeys };
  return Array.from({ length: number }, () => service.subscribe(options));
}

function deliver(broadcast: Partial<Broadcast>, settings: Partial<DeliverySettings> = {}) {
  const clock = settings.clock ?? (() => new Date());
  return delivery({
    transport: pushTransport({ limit: inFlight.overall }),
    sign: vapidSigner('mailto:ops@example.com', clock),
    clock,
    idleTime: () => performance.eventLoopUtilization().idle,
    sleep: (ms) => sleep(ms, undefined, { ref: false }),
    abortAfter: (ms) => AbortSignal.timeout(ms),
    random: () => 0,
    extraOrigins: services.map(({ origin }) => origin),
    inFlight,
    ttl: 60,
    ...settings,
  })({
    message,
    vapid,
    audience: countingAudience([]),
    lastPushAt: Date.now() + 20_000,
    endAt: Date.now() + 25_000,
    remove: async () => {},
    ...broadcast,
  });
}

/** Waits that pass at once, and are remembered. */
function skippedWaits() {
  const waits: number[] = [];
  const skip = async (ms: number) => {
    // The tick of the reading is 250 ms; no retry waits less than that.
    if (ms > 250) waits.push(ms);
    else await sleep(1, undefined, { ref: false });
  };
  return { waits, sleep: skip };
}

const nothing = { attempted: 0, delivered: 0, removed: 0, failed: 0, unreached: 0, failures: {} };

test('nobody subscribed is nobody attempted', async () => {
  expect(await deliver({})).toEqual(nothing);
});

test('every subscriber gets the message once, decrypted to what was sent', async () => {
  const service = await pushService();
  const browsers = subscribe(service, 1500);
  const report = await deliver({ audience: countingAudience(browsers.map((one) => one.toJSON())) });
  expect(report).toEqual({ ...nothing, attempted: 1500, delivered: 1500 });
  const received = browsers.map(({ messages }) => messages.map(({ text }) => text));
  expect(received).toEqual(browsers.map(() => [message.toString()]));
});

test('the gone are removed in batches, each once', async () => {
  const service = await pushService();
  const browsers = subscribe(service, 130);
  for (const browser of browsers.slice(0, 120)) browser.unsubscribe();
  const batches: (readonly string[])[] = [];
  const report = await deliver({
    audience: countingAudience(browsers.map((one) => one.toJSON())),
    remove: async (hashes) => void batches.push(hashes),
  });
  expect(report).toEqual({ ...nothing, attempted: 130, delivered: 10, removed: 120 });
  expect(batches.map(({ length }) => length)).toEqual([50, 50, 20]);
  expect(new Set(batches.flat()).size).toBe(120);
});

test('a subscription that is gone but cannot be deleted has failed', async () => {
  const service = await pushService();
  const [browser] = subscribe(service);
  browser!.unsubscribe();
  const report = await deliver({
    audience: countingAudience([browser!.toJSON()]),
    remove: () => Promise.reject(new Error('throttled')),
  });
  expect(report).toEqual({ ...nothing, attempted: 1, failed: 1, failures: { not_removed: 1 } });
});

test('a passing refusal is tried three times, with growing waits', async () => {
  const service = await pushService();
  const [twice, thrice] = subscribe(service, 2);
  twice!.behave({ status: 503, times: 2 });
  thrice!.behave({ status: 503, times: 3 });
  const { waits, sleep } = skippedWaits();
  const audience = countingAudience([twice!.toJSON(), thrice!.toJSON()]);
  const report = await deliver({ audience }, { sleep });
  expect(report).toEqual({
    ...nothing,
    attempted: 2,
    delivered: 1,
    failed: 1,
    failures: { unavailable: 1 },
  });
  expect(twice!.messages).toHaveLength(1);
  expect(waits.sort((a, b) => a - b)).toEqual([500, 500]);
});

test('waits as long as the push service asks, and not past the last push', async () => {
  const service = await pushService();
  const [soon, late] = subscribe(service, 2);
  soon!.behave({ status: 429, headers: { 'retry-after': '7' }, times: 1 });
  late!.behave({ status: 429, headers: { 'retry-after': '3600' }, times: 1 });
  const { waits, sleep } = skippedWaits();
  const audience = countingAudience([soon!.toJSON(), late!.toJSON()]);
  const report = await deliver({ audience }, { sleep });
  expect(report).toMatchObject({ delivered: 1, failed: 1, failures: { throttled: 1 } });
  expect(waits).toEqual([7000]);
});

test('what is tried again is not encrypted again', async () => {
  const bodies: Buffer[] = [];
  const { sleep } = skippedWaits();
  const transport: DeliverySettings['transport'] = async ({ body }) => {
    bodies.push(body);
    return { status: bodies.length < 3 ? 503 : 201, headers: {}, body: '' };
  };
  const report = await deliver(
    { audience: countingAudience([subscription()]) },
    { transport, sleep },
  );
  expect(report).toEqual({ ...nothing, attempted: 1, delivered: 1 });
  expect(bodies).toEqual([bodies[0], bodies[0], bodies[0]]);
});

test('a reset connection is tried again', async () => {
  const service = await pushService();
  const [browser] = subscribe(service);
  browser!.behave({ reset: true, times: 1 });
  const { sleep } = skippedWaits();
  const report = await deliver({ audience: countingAudience([browser!.toJSON()]) }, { sleep });
  expect(report).toEqual({ ...nothing, attempted: 1, delivered: 1 });
});

test('failures are counted by their reason, and kept apart from the gone', async () => {
  const service = await pushService();
  const [small, refused, mismatched] = subscribe(service, 3);
  small!.behave({ status: 413 });
  refused!.behave({ status: 403 });
  mismatched!.behave({ status: 400, body: '{"reason":"VapidPkHashMismatch"}' });
  const audience = countingAudience([small!, refused!, mismatched!].map((one) => one.toJSON()));
  expect(await deliver({ audience })).toEqual({
    ...nothing,
    attempted: 3,
    failed: 3,
    failures: { too_large: 1, vapid_refused: 1, key_mismatch: 1 },
  });
});

test('nothing is sent to an endpoint that is admitted no more, nor under a broken key', async () => {
  const service = await pushService();
  const [admitted, broken] = subscribe(service, 2);
  const elsewhere = subscription({ endpoint: 'http://127.0.0.1:9/push/1' });
  const keys = { ...broken!.toJSON().keys, p256dh: 'AAAA' };
  const audience = countingAudience([admitted!.toJSON(), { ...broken!.toJSON(), keys }, elsewhere]);
  expect(await deliver({ audience })).toEqual({
    ...nothing,
    attempted: 3,
    delivered: 1,
    failed: 2,
    failures: { unsendable: 2 },
  });
  expect(service.stats().accepted).toBe(1);
});

test('after the last push none starts, and those left out are counted', async () => {
  const service = await pushService();
  const browsers = subscribe(service, 900);
  let now = Date.now();
  const clock = () => new Date(now);
  const transport = pushTransport({ limit: inFlight.overall });
  const report = await deliver(
    { audience: countingAudience(browsers.map((one) => one.toJSON())), lastPushAt: now + 1000 },
    {
      clock,
      // Each push takes 10 ms of a clock that stands still otherwise.
      transport: (request) => {
        now += 10;
        return transport(request);
      },
    },
  );
  expect(report).toEqual({ ...nothing, attempted: 100, delivered: 100, unreached: 800 });
  expect(service.stats().accepted).toBe(100);
});

test('an attempt that is too late counts as the failure before it', async () => {
  let now = Date.now();
  const { sleep } = skippedWaits();
  const report = await deliver(
    { audience: countingAudience([subscription()]), lastPushAt: now + 1000 },
    {
      clock: () => new Date(now),
      sleep: async (ms) => {
        await sleep(ms);
        // A busy processor: the wait took longer than it was to.
        if (ms > 250) now += 1000;
      },
      transport: async () => ({ status: 429, headers: {}, body: '' }),
    },
  );
  expect(report).toEqual({ ...nothing, attempted: 1, failed: 1, failures: { throttled: 1 } });
});

describe('at the end', () => {
  const never = new Promise<never>(() => {});
  const everyone = Array.from({ length: 130 }, () => subscription());

  /** Delivers with an end that comes when it is called. */
  function deliverUntil(broadcast: Partial<Broadcast>, settings: Partial<DeliverySettings>) {
    const end = new AbortController();
    const report = deliver(broadcast, { ...settings, abortAfter: () => end.signal });
    return { report, end: () => end.abort() };
  }

  test('removals that are still under way or waiting count as not removed', async () => {
    const batches: number[] = [];
    let removing: () => void;
    const secondBatch = new Promise<void>((resolve) => {
      removing = resolve;
    });
    const { report, end } = deliverUntil(
      {
        audience: countingAudience(everyone),
        remove: async ({ length }) => {
          batches.push(length);
          if (batches.length === 1) return;
          removing();
          await never;
        },
      },
      { transport: async () => ({ status: 410, headers: {}, body: '' }) },
    );
    await secondBatch;
    end();
    expect(await report).toEqual({
      ...nothing,
      attempted: 130,
      removed: 50,
      failed: 80,
      failures: { not_removed: 80 },
    });
    expect(batches).toEqual([50, 50]);
  });

  test('a page that never comes is not waited for, and its subscribers are not reached', async () => {
    const readable = countingAudience(everyone, 100);
    let reading: () => void;
    const secondPage = new Promise<void>((resolve) => {
      reading = resolve;
    });
    const audience = {
      ordered: true,
      async *pages() {
        for await (const page of readable.pages()) {
          yield page;
          reading();
          await never;
        }
      },
    };
    const { report, end } = deliverUntil(
      { audience },
      { transport: async () => ({ status: 201, headers: {}, body: '' }) },
    );
    await secondPage;
    end();
    expect(await report).toEqual({ ...nothing, attempted: 100, delivered: 100, unreached: 1 });
  });
});

test('a push service that stalls does not hold the others up', async () => {
  const [stalling, healthy] = [await pushService(), await pushService()];
  const stalled = subscribe(stalling, 1200);
  const served = subscribe(healthy, 1200);
  const audience = countingAudience([...stalled, ...served].map((one) => one.toJSON()));
  let cutOff: () => void = () => {};
  const stopped = new Promise<never>((_, reject) => {
    cutOff = () => reject(new Error('cut off'));
  });
  const transport = pushTransport({ limit: inFlight.overall });
  const report = deliver(
    { audience },
    {
      sleep: skippedWaits().sleep,
      transport: (request) => (request.origin === stalling.origin ? stopped : transport(request)),
    },
  );
  // The healthy service has everything while not one push to the other was answered.
  await healthy.waitFor(1200);
  cutOff();
  expect(await report).toEqual({
    ...nothing,
    attempted: 2400,
    delivered: 1200,
    failed: 1200,
    failures: { no_response: 1200 },
  });
  expect(audience.reads).toBe(2);
});

test.each([
  ['360', 'one push service', ['https://fcm.googleapis.com']],
  [
    '480',
    'three of them',
    ['https://fcm.googleapis.com', 'https://jmt17.google.com', 'https://a.push.apple.com'],
  ],
])('%s pushes are in flight to %s, and no more', async (bound, _, origins) => {
  const { keys } = subscription();
  const everyone = origins.flatMap((origin) =>
    Array.from({ length: 1500 }, (_, index) => ({ endpoint: `${origin}/${index}`, keys })),
  );
  let flying = 0;
  let most = 0;
  const report = await deliver(
    { audience: countingAudience(everyone) },
    {
      transport: async () => {
        flying += 1;
        most = Math.max(most, flying);
        await sleep(2);
        flying -= 1;
        return { status: 201, headers: {}, body: '' };
      },
    },
  );
  expect(report.delivered).toBe(everyone.length);
  expect(most).toBe(Number(bound));
});

test('an audience that cannot be read on is reported with what was attempted', async () => {
  const service = await pushService();
  const browsers = subscribe(service, 10).map((one) => one.toJSON());
  const broken = new Error('away');
  const readable = countingAudience(browsers);
  const audience = {
    ordered: true,
    async *pages() {
      yield* readable.pages();
      throw broken;
    },
  };
  expect(await deliver({ audience })).toEqual({
    ...nothing,
    attempted: 10,
    delivered: 10,
    unreached: 1,
    interruption: broken,
  });
});
