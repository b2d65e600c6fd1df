import type { DeliverySettings } from '../../../../lambdas/push/delivery/delivery.ts';
import { type PushService, startPushService } from '../../../../local/push-service/push-service.ts';
import { countingAudience } from '../../../fixtures/audience.ts';
import {
  deliver,
  recordedWaits,
  shortestRetryWaitMs,
  subscribeBrowsers,
} from '../../../fixtures/delivery.ts';
import { subscription } from '../../../fixtures/subscription.ts';

let pushService: PushService;

beforeEach(async () => {
  pushService = await startPushService();
});
afterEach(() => pushService.stop());

const nothing = { attempted: 0, delivered: 0, removed: 0, failed: 0, unreached: 0, failures: {} };

test('a transient failure has up to three attempts, with exponential backoff', async () => {
  const [twice, thrice] = subscribeBrowsers(pushService, 2);
  twice!.behave({ status: 503, times: 2 });
  thrice!.behave({ status: 503, times: 3 });
  const { waitsMs, sleep } = recordedWaits();
  const audience = countingAudience([twice!.toJSON(), thrice!.toJSON()]);
  const report = await deliver({ audience }, { sleep, extraOrigins: [pushService.origin] });
  expect(report).toEqual({
    ...nothing,
    attempted: 2,
    delivered: 1,
    failed: 1,
    failures: { unavailable: 1 },
  });
  expect(twice!.messages).toHaveLength(1);
  expect(waitsMs.sort((a, b) => a - b)).toEqual([250, 250, 500, 500]);
});

test('a retry waits for Retry-After, unless no push may start by then', async () => {
  const [soon, late] = subscribeBrowsers(pushService, 2);
  soon!.behave({ status: 429, headers: { 'retry-after': '7' }, times: 1 });
  late!.behave({ status: 429, headers: { 'retry-after': '3600' }, times: 1 });
  const { waitsMs, sleep } = recordedWaits();
  const audience = countingAudience([soon!.toJSON(), late!.toJSON()]);
  const report = await deliver({ audience }, { sleep, extraOrigins: [pushService.origin] });
  expect(report).toMatchObject({ delivered: 1, failed: 1, failures: { throttled: 1 } });
  expect(waitsMs).toEqual([7000]);
});

test('a retry sends the body of the first attempt', async () => {
  const bodies: Buffer[] = [];
  const { sleep } = recordedWaits();
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

test('a push is retried after a connection reset', async () => {
  const [browser] = subscribeBrowsers(pushService);
  browser!.behave({ reset: true, times: 1 });
  const { sleep } = recordedWaits();
  const audience = countingAudience([browser!.toJSON()]);
  const report = await deliver({ audience }, { sleep, extraOrigins: [pushService.origin] });
  expect(report).toEqual({ ...nothing, attempted: 1, delivered: 1 });
});

test('a retry that would start too late counts as the previous failure', async () => {
  let now = Date.now();
  const { sleep } = recordedWaits();
  const report = await deliver(
    { audience: countingAudience([subscription()]), lastPushAt: now + 1000 },
    {
      clock: () => new Date(now),
      sleep: async (ms) => {
        await sleep(ms);
        // A busy processor makes the wait before the retry longer than requested.
        if (ms >= shortestRetryWaitMs) now += 1000;
      },
      transport: async () => ({ status: 429, headers: {}, body: '' }),
    },
  );
  expect(report).toEqual({ ...nothing, attempted: 1, failed: 1, failures: { throttled: 1 } });
});
