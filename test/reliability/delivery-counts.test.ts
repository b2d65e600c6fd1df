import fc from 'fast-check';
import type { DeliveryReport } from '../../lambdas/push/delivery/delivery.ts';
import type { PushRequest } from '../../lambdas/push/transport/transport.ts';
import type { Behaviour } from '../../local/push-service/behaviour.ts';
import { createBrowserKeys } from '../../local/push-service/browser-keys.ts';
import { type PushService, startPushService } from '../../local/push-service/push-service.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { countingAudience, recipient } from '../fixtures/audience.ts';
import { deliver, skipWaits, transport, vapid } from '../fixtures/delivery.ts';
import { cases } from './fixtures/seed.ts';

const mixtures = 70;

/** Time-out of a push that gets no response, for a fast test. Other pushes keep the usual 10 s. */
const stallTimeoutMs = 250;
const attempts = 3;

let pushServices: PushService[];
const keys = createBrowserKeys();

beforeAll(async () => {
  pushServices = await Promise.all([startPushService(), startPushService(), startPushService()]);
});
afterAll(() => Promise.all(pushServices.map((pushService) => pushService.stop())));

type Outcome = 'delivered' | 'removed' | 'failed';

/** How a push service treats a push, and what the push then counts as. */
interface Treatment {
  readonly behaviour: Behaviour;
  /** Whether a retry may succeed. */
  readonly isTransient: boolean;
  readonly outcome: Outcome;
}

const final = (behaviour: Behaviour, outcome: Outcome): Treatment => ({
  behaviour,
  outcome,
  isTransient: false,
});
const transient = (behaviour: Behaviour): Treatment => ({
  behaviour,
  outcome: 'failed',
  isTransient: true,
});

const treatment = fc.oneof(
  { weight: 6, arbitrary: fc.constant(final({}, 'delivered')) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(200, 201, 202, 204).map((status) => final({ status }, 'delivered')),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('dropped', 'channelthrottled')
      .map((state) => final({ status: 200, headers: { 'x-wns-status': state } }, 'failed')),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      final({ gone: true }, 'removed'),
      final({ status: 404 }, 'removed'),
      final({ status: 410, body: '{"reason":"Unregistered"}' }, 'removed'),
    ),
  },
  {
    weight: 1,
    // A retry after the deadline.
    arbitrary: fc.constant(final({ status: 429, headers: { 'retry-after': '3600' } }, 'failed')),
  },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(301, 302, 307, 308, 304, 400, 401, 403, 405, 409, 413, 415, 418, 501, 505, 599)
      .map((status) => final({ status, headers: { location: 'http://127.0.0.1:9/' } }, 'failed')),
  },
  {
    weight: 4,
    arbitrary: fc.oneof(
      fc.constantFrom(406, 429, 500, 502, 503, 504).map((status) => transient({ status })),
      fc
        .constantFrom('0', '1', '5', 'soon', '-1', 'Wed, 21 Oct 2015 07:28:00 GMT')
        .map((after) => transient({ status: 429, headers: { 'retry-after': after } })),
      fc.constant(transient({ reset: true })),
      fc.constant(transient({ stall: true })),
    ),
  },
);

/** One subscription of the audience. */
interface Subscriber {
  /** Index of its push service. */
  readonly pushService: number;
  readonly treatment: Treatment;
  /** Number of pushes that get a transient treatment; the next one is accepted. */
  readonly times: number;
  readonly hasValidKey: boolean;
}

const subscriber: fc.Arbitrary<Subscriber> = fc.record({
  pushService: fc.nat({ max: 2 }),
  treatment,
  times: fc.integer({ min: 1, max: 4 }),
  hasValidKey: fc.integer({ min: 0, max: 15 }).map((value) => value !== 0),
});
const subscribers = fc.array(subscriber, { maxLength: 60, size: 'max' });

function expectedOutcome({ treatment, times, hasValidKey }: Subscriber): Outcome {
  if (!hasValidKey) return 'failed';
  return treatment.isTransient && times < attempts ? 'delivered' : treatment.outcome;
}

/** Creates a simulated browser for each subscriber. */
function subscribe(all: readonly Subscriber[]): SimulatedBrowser[] {
  return all.map(({ pushService, treatment: { behaviour, isTransient }, times }) => {
    const options = { applicationServerKey: vapid.publicKey, keys };
    const browser = pushServices[pushService]!.subscribe(options);
    browser.behave(isTransient ? { ...behaviour, times } : behaviour);
    return browser;
  });
}

function audience(all: readonly Subscriber[], browsers: readonly SimulatedBrowser[]) {
  return countingAudience(
    browsers.map((browser, index) => {
      const { endpoint, keys: valid } = browser.toJSON();
      return { endpoint, keys: all[index]!.hasValidKey ? valid : { ...valid, p256dh: 'AAAA' } };
    }),
    10,
  );
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

function expectConsistent(report: DeliveryReport): void {
  const { attempted, delivered, removed, failed, failures } = report;
  expect(attempted).toBe(delivered + removed + failed);
  const reasons = Object.values(failures).reduce((sum, count) => sum + count, 0);
  expect(reasons).toBe(failed);
}

test('each push counts as its response requires, and attempted = delivered + removed + failed, for any mixture of responses', async () => {
  const property = fc.asyncProperty(subscribers, async (all) => {
    const browsers = subscribe(all);
    const removed: string[] = [];
    const report = await deliver(
      {
        audience: audience(all, browsers),
        remove: async (hashes) => void removed.push(...hashes),
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
    const hashes = gone.map((browser) => recipient(browser.toJSON()).endpointHash);
    expect(removed.sort()).toEqual(hashes.sort());
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
      { audience: audience(all, browsers), lastPushAt },
      {
        ...rest,
        // Few in flight, so that many pushes are still queued at the deadline.
        inFlight: { overall: 12, perLane: 6, atFirst: 2, atLeast: 1 },
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
        audience: audience(everyone, browsers),
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

const gone: Subscriber = {
  pushService: 0,
  treatment: final({ gone: true }, 'removed'),
  times: 1,
  hasValidKey: true,
};
