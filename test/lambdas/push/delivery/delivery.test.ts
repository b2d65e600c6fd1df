import type { Broadcast } from '../../../../lambdas/push/delivery/delivery.ts';
import { type PushService, startPushService } from '../../../../local/push-service/push-service.ts';
import type { SimulatedBrowser } from '../../../../local/push-service/simulated-browser.ts';
import { countingAudience } from '../../../fixtures/audience.ts';
import { deliver, message, subscribeBrowsers } from '../../../fixtures/delivery.ts';
import { subscription } from '../../../fixtures/subscription.ts';

let pushService: PushService;

beforeEach(async () => {
  pushService = await startPushService();
});
afterEach(() => pushService.stop());

function deliverTo(browsers: readonly SimulatedBrowser[], broadcast: Partial<Broadcast> = {}) {
  const audience = countingAudience(browsers.map((browser) => browser.toJSON()));
  return deliver({ audience, ...broadcast }, { extraOrigins: [pushService.origin] });
}

const nothing = { attempted: 0, delivered: 0, removed: 0, failed: 0, unreached: 0, failures: {} };

test('an empty audience is not attempted', async () => {
  expect(await deliverTo([])).toEqual(nothing);
});

test('each subscriber receives the message once and can decrypt it', async () => {
  const browsers = subscribeBrowsers(pushService, 1500);
  const report = await deliverTo(browsers);
  expect(report).toEqual({ ...nothing, attempted: 1500, delivered: 1500 });
  const received = browsers.map(({ messages }) => messages.map(({ text }) => text));
  expect(received).toEqual(browsers.map(() => [message.toString()]));
});

test('gone subscriptions are removed once, in batches of 50', async () => {
  const browsers = subscribeBrowsers(pushService, 130);
  for (const browser of browsers.slice(0, 120)) browser.unsubscribe();
  const batches: (readonly string[])[] = [];
  const report = await deliverTo(browsers, { remove: async (hashes) => void batches.push(hashes) });
  expect(report).toEqual({ ...nothing, attempted: 130, delivered: 10, removed: 120 });
  expect(batches.map(({ length }) => length)).toEqual([50, 50, 20]);
  expect(new Set(batches.flat()).size).toBe(120);
});

test('a gone subscription that cannot be deleted counts as failed', async () => {
  const browsers = subscribeBrowsers(pushService);
  browsers[0]!.unsubscribe();
  const remove = () => Promise.reject(new Error('throttled'));
  const report = await deliverTo(browsers, { remove });
  expect(report).toEqual({ ...nothing, attempted: 1, failed: 1, failures: { not_removed: 1 } });
});

test('failures are counted by reason', async () => {
  const browsers = subscribeBrowsers(pushService, 3);
  const [tooLarge, refused, mismatched] = browsers;
  tooLarge!.behave({ status: 413 });
  refused!.behave({ status: 403 });
  mismatched!.behave({ status: 400, body: '{"reason":"VapidPkHashMismatch"}' });
  expect(await deliverTo(browsers)).toEqual({
    ...nothing,
    attempted: 3,
    failed: 3,
    failures: { too_large: 1, vapid_refused: 1, key_mismatch: 1 },
  });
});

test('an endpoint that is no longer accepted and an invalid key are unsendable', async () => {
  const [valid, other] = subscribeBrowsers(pushService, 2).map((browser) => browser.toJSON());
  const invalidKey = { ...other!, keys: { ...other!.keys, p256dh: 'AAAA' } };
  const notAccepted = subscription({ endpoint: 'http://127.0.0.1:9/push/1' });
  const audience = countingAudience([valid!, invalidKey, notAccepted]);
  expect(await deliverTo([], { audience })).toEqual({
    ...nothing,
    attempted: 3,
    delivered: 1,
    failed: 2,
    failures: { unsendable: 2 },
  });
  expect(pushService.stats().accepted).toBe(1);
});

test('an audience that cannot be read to its end is reported with the counts', async () => {
  const fault = new Error('database fault');
  const readable = countingAudience(subscribeBrowsers(pushService, 10).map((one) => one.toJSON()));
  const audience = {
    ordered: true,
    async *pages() {
      yield* readable.pages();
      throw fault;
    },
  };
  expect(await deliverTo([], { audience })).toEqual({
    ...nothing,
    attempted: 10,
    delivered: 10,
    unreached: 1,
    interruption: fault,
  });
});
