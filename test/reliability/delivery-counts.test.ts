import fc from 'fast-check';
import { recipient } from '../../bench/recipient.ts';
import type { Recipient } from '../../contract/audience.ts';
import type { Counts } from '../../contract/counts.ts';
import type { PushRequest } from '../../lambdas/push/transport/transport.ts';
import { createBrowserKeys } from '../../local/push-service/browser-keys.ts';
import { type PushService, startPushService } from '../../local/push-service/push-service.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { deliver, skipWaits, transport, vapid } from '../fixtures/delivery.ts';
import {
  expectedOutcome,
  gone,
  type Outcome,
  type Subscriber,
  subscribers,
} from './fixtures/generated-subscribers.ts';
import { cases } from './fixtures/seed.ts';

const mixtures = 70;

/** Time-out of a push that gets no response, for a fast test. Other pushes keep the usual 10 s. */
const stallTimeoutMs = 250;

let pushServices: PushService[];
const keys = createBrowserKeys();

beforeAll(async () => {
  pushServices = await Promise.all([startPushService(), startPushService(), startPushService()]);
});
afterAll(() => Promise.all(pushServices.map((pushService) => pushService.stop())));

/** Creates a simulated browser for each subscriber. */
function subscribe(all: readonly Subscriber[]): SimulatedBrowser[] {
  return all.map(({ pushService, treatment: { behaviour, isTransient }, times }) => {
    const options = { applicationServerKey: vapid.publicKey, keys };
    const browser = pushServices[pushService]!.subscribe(options);
    browser.behave(isTransient ? { ...behaviour, times } : behaviour);
    return browser;
  });
}

function recipients(all: readonly Subscriber[], browsers: readonly SimulatedBrowser[]) {
  return browsers.map((browser, index): Recipient => {
    const right = recipient(browser.toJSON());
    return all[index]!.hasValidKey ? right : { ...right, p256dh: new Uint8Array(3) };
  });
}

function settings(all: readonly Subscriber[], browsers: readonly SimulatedBrowser[]) {
  /** Number of pushes, by endpoint, that will get no response. */
  const stalls = new Map(
    browsers.map(({ endpoint }, index) => {
      const { treatment, times } = all[index]!;
      return [endpoint, 'stall' in treatment.behaviour ? times : 0];
    }),
  );
  return {
    sleep: skipWaits,
    extraOrigins: pushServices.map(({ origin }) => origin),
    transport: (request: PushRequest) => {
      const endpoint = request.origin + request.path;
      const remaining = stalls.get(endpoint)!;
      stalls.set(endpoint, remaining - 1);
      return transport(remaining > 0 ? { ...request, timeoutMs: stallTimeoutMs } : request);
    },
  };
}

function expectConsistent({ attempted, delivered, removed, failed, failures }: Counts): void {
  expect(attempted).toBe(delivered + removed + failed);
  const reasons = Object.values(failures).reduce((sum, count) => sum + count, 0);
  expect(reasons).toBe(failed);
}

test('each push counts as its response requires, and attempted = delivered + removed + failed, for any mixture of responses', async () => {
  const property = fc.asyncProperty(subscribers, async (all) => {
    const browsers = subscribe(all);
    const removed: Recipient[] = [];
    const report = await deliver(
      {
        recipients: recipients(all, browsers),
        // All attempts are made, also after a time-out.
        isAwaited: false,
        remove: async (batch) => void removed.push(...batch),
      },
      settings(all, browsers),
    );
    expectConsistent(report);
    const outcomes = all.map(expectedOutcome);
    const count = (wanted: Outcome) => outcomes.filter((outcome) => outcome === wanted).length;
    expect(report).toMatchObject({
      attempted: all.length,
      delivered: count('delivered'),
      removed: count('removed'),
      failed: count('failed'),
      unreached: 0,
    });
    const gone = browsers.filter((_, index) => outcomes[index] === 'removed');
    const endpoints = removed.map(({ origin, path }) => origin + path);
    expect(endpoints.sort()).toEqual(gone.map(({ endpoint }) => endpoint).sort());
  });
  await fc.assert(property, cases(mixtures));
});

test('attempted = delivered + removed + failed at the deadline, and the others count as unreached', async () => {
  const property = fc.asyncProperty(subscribers, fc.nat({ max: 80 }), async (all, maxPushes) => {
    const browsers = subscribe(all);
    const { transport: limited, ...rest } = settings(all, browsers);
    let now = Date.now();
    const lastPushAt = now + maxPushes;
    let pushes = 0;
    const report = await deliver(
      { recipients: recipients(all, browsers), lastPushAt },
      {
        ...rest,
        // Few in flight, so that many pushes are still queued at the deadline.
        inFlight: { overall: 12, perPushService: 6, initial: 2, minimum: 1 },
        clock: () => new Date(now),
        // The clock advances by 1 ms for each push that starts, and only then.
        transport: (request) => {
          now += 1;
          pushes += 1;
          return limited(request);
        },
      },
    );
    expectConsistent(report);
    expect(report.attempted + report.unreached).toBe(all.length);
    expect(pushes).toBeLessThanOrEqual(maxPushes);
    const received = browsers.filter(({ messages }) => messages.length > 0).length;
    expect(report.delivered).toBeGreaterThanOrEqual(received);
    for (const { messages } of browsers) expect(messages.length).toBeLessThanOrEqual(1);
  });
  await fc.assert(property, cases(mixtures));
});

test('a gone subscription that cannot be deleted counts as failed, once', async () => {
  const property = fc.asyncProperty(subscribers, fc.boolean(), async (all, firstFails) => {
    const everyone = [...all, ...Array.from({ length: 60 }, () => gone)];
    const browsers = subscribe(everyone);
    let batches = 0;
    let deleted = 0;
    const report = await deliver(
      {
        recipients: recipients(everyone, browsers),
        remove: async (hashes) => {
          batches += 1;
          if ((batches === 1) === firstFails) throw new Error('throttled');
          deleted += hashes.length;
        },
      },
      settings(everyone, browsers),
    );
    expectConsistent(report);
    expect(report.attempted).toBe(everyone.length);
    expect(report.removed).toBe(deleted);
  });
  await fc.assert(property, cases(20));
});
