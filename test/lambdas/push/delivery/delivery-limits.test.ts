import { setTimeout as sleep } from 'node:timers/promises';
import type { Broadcast, DeliverySettings } from '../../../../lambdas/push/delivery/delivery.ts';
import { startPushService } from '../../../../local/push-service/push-service.ts';
import { countingAudience } from '../../../fixtures/audience.ts';
import {
  deliver,
  recordedWaits,
  subscribeBrowsers,
  transport,
} from '../../../fixtures/delivery.ts';
import { subscription } from '../../../fixtures/subscription.ts';

const nothing = { attempted: 0, delivered: 0, removed: 0, failed: 0, unreached: 0, failures: {} };

test('no push starts after lastPushAt, and the remaining subscribers are unreached', async () => {
  const pushService = await startPushService();
  try {
    const browsers = subscribeBrowsers(pushService, 900);
    let now = Date.now();
    const report = await deliver(
      { audience: countingAudience(browsers.map((one) => one.toJSON())), lastPushAt: now + 1000 },
      {
        extraOrigins: [pushService.origin],
        clock: () => new Date(now),
        // The clock only advances by 10 ms per push.
        transport: (request) => {
          now += 10;
          return transport(request);
        },
      },
    );
    expect(report).toEqual({ ...nothing, attempted: 100, delivered: 100, unreached: 800 });
    expect(pushService.stats().accepted).toBe(100);
  } finally {
    await pushService.stop();
  }
});

describe('when the delivery ends', () => {
  const never = new Promise<never>(() => {});
  const everyone = Array.from({ length: 130 }, () => subscription());

  /** Starts a delivery that ends when `end` is called. */
  function deliverUntilEnd(broadcast: Partial<Broadcast>, settings: Partial<DeliverySettings>) {
    const end = new AbortController();
    const report = deliver(broadcast, { ...settings, abortAfter: () => end.signal });
    return { report, end: () => end.abort() };
  }

  test('unfinished removals count as not removed', async () => {
    const batches: number[] = [];
    let startSecondBatch: () => void;
    const secondBatch = new Promise<void>((resolve) => {
      startSecondBatch = resolve;
    });
    const { report, end } = deliverUntilEnd(
      {
        audience: countingAudience(everyone),
        remove: async ({ length }) => {
          batches.push(length);
          if (batches.length === 1) return;
          startSecondBatch();
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

  test('a page that is still being read counts as one unreached subscriber', async () => {
    const readable = countingAudience(everyone, 100);
    let startSecondPage: () => void;
    const secondPage = new Promise<void>((resolve) => {
      startSecondPage = resolve;
    });
    const audience = {
      ordered: true,
      async *pages() {
        for await (const page of readable.pages()) {
          yield page;
          startSecondPage();
          await never;
        }
      },
    };
    const { report, end } = deliverUntilEnd(
      { audience },
      { transport: async () => ({ status: 201, headers: {}, body: '' }) },
    );
    await secondPage;
    end();
    expect(await report).toEqual({ ...nothing, attempted: 100, delivered: 100, unreached: 1 });
  });
});

test('a stalled push service does not delay pushes to others', async () => {
  const [stalled, healthy] = [await startPushService(), await startPushService()];
  try {
    const browsers = [...subscribeBrowsers(stalled, 1200), ...subscribeBrowsers(healthy, 1200)];
    const audience = countingAudience(browsers.map((one) => one.toJSON()));
    let failStalled: () => void = () => {};
    const stalledResponse = new Promise<never>((_, reject) => {
      failStalled = () => reject(new Error('no response'));
    });
    const report = deliver(
      { audience },
      {
        extraOrigins: [stalled.origin, healthy.origin],
        sleep: recordedWaits().sleep,
        transport: (request) =>
          request.origin === stalled.origin ? stalledResponse : transport(request),
      },
    );
    // All pushes to the healthy push service end before any push to the stalled one.
    await healthy.waitFor(1200);
    failStalled();
    expect(await report).toEqual({
      ...nothing,
      attempted: 2400,
      delivered: 1200,
      failed: 1200,
      failures: { no_response: 1200 },
    });
    expect(audience.reads).toBe(2);
  } finally {
    await Promise.all([stalled.stop(), healthy.stop()]);
  }
});

test.each([
  ['360', 'one push service', ['https://fcm.googleapis.com']],
  [
    '480',
    'three push services',
    ['https://fcm.googleapis.com', 'https://jmt17.google.com', 'https://a.push.apple.com'],
  ],
])('at most %s pushes are in flight to %s', async (limit, _, origins) => {
  const { keys } = subscription();
  const everyone = origins.flatMap((origin) =>
    Array.from({ length: 1500 }, (_, index) => ({ endpoint: `${origin}/${index}`, keys })),
  );
  let inFlight = 0;
  let most = 0;
  const report = await deliver(
    { audience: countingAudience(everyone) },
    {
      transport: async () => {
        inFlight += 1;
        most = Math.max(most, inFlight);
        await sleep(2);
        inFlight -= 1;
        return { status: 201, headers: {}, body: '' };
      },
    },
  );
  expect(report.delivered).toBe(everyone.length);
  expect(most).toBe(Number(limit));
});
