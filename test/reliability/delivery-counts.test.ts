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

/** Milliseconds after which a push that is not to be answered has waited enough; others have 10 s. */
const stallTimeout = 250;
const attempts = 3;

let services: PushService[];
const keys = createBrowserKeys();

beforeAll(async () => {
  services = await Promise.all([startPushService(), startPushService(), startPushService()]);
});
afterAll(() => Promise.all(services.map((service) => service.stop())));

type Fate = 'delivered' | 'removed' | 'failed';

/** What a push service may do, and what it means by that. */
interface Conduct {
  readonly behaviour: Behaviour;
  /** Whether the same may go otherwise at the next attempt. */
  readonly passing: boolean;
  readonly fate: Fate;
}

const final = (behaviour: Behaviour, fate: Fate): Conduct => ({ behaviour, fate, passing: false });
const passing = (behaviour: Behaviour): Conduct => ({ behaviour, fate: 'failed', passing: true });

const conduct = fc.oneof(
  { weight: 6, arbitrary: fc.constant(final({}, 'delivered')) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(200, 201, 202, 204).map((status) => final({ status }, 'delivered')),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('dropped', 'channelthrottled')
      .map((said) => final({ status: 200, headers: { 'x-wns-status': said } }, 'failed')),
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
    // Later than the deadline.
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
      fc.constantFrom(406, 429, 500, 502, 503, 504).map((status) => passing({ status })),
      fc
        .constantFrom('0', '1', '5', 'soon', '-1', 'Wed, 21 Oct 2015 07:28:00 GMT')
        .map((after) => passing({ status: 429, headers: { 'retry-after': after } })),
      fc.constant(passing({ reset: true })),
      fc.constant(passing({ stall: true })),
    ),
  },
);

/** One subscription of the audience. */
interface Subscriber {
  readonly service: number;
  readonly conduct: Conduct;
  /** Pushes for which a passing conduct lasts. */
  readonly times: number;
  /** Whether its stored key can be encrypted to. */
  readonly sound: boolean;
}

const subscriber: fc.Arbitrary<Subscriber> = fc.record({
  service: fc.nat({ max: 2 }),
  conduct,
  times: fc.integer({ min: 1, max: 4 }),
  sound: fc.integer({ min: 0, max: 15 }).map((one) => one !== 0),
});
const subscribers = fc.array(subscriber, { maxLength: 60, size: 'max' });

/** The status table of what a sender must know, read anew: what becomes of a subscriber. */
function rightFate({ conduct, times, sound }: Subscriber): Fate {
  if (!sound) return 'failed';
  return conduct.passing && times < attempts ? 'delivered' : conduct.fate;
}

/** Makes the browsers of an audience, at the push services. */
function subscribe(all: readonly Subscriber[]): SimulatedBrowser[] {
  return all.map(({ service, conduct: { behaviour, passing }, times }) => {
    const options = { applicationServerKey: vapid.publicKey, keys };
    const browser = services[service]!.subscribe(options);
    browser.behave(passing ? { ...behaviour, times } : behaviour);
    return browser;
  });
}

function audience(all: readonly Subscriber[], browsers: readonly SimulatedBrowser[]) {
  return countingAudience(
    browsers.map((browser, index) => {
      const { endpoint, keys: stated } = browser.toJSON();
      return { endpoint, keys: all[index]!.sound ? stated : { ...stated, p256dh: 'AAAA' } };
    }),
    10,
  );
}

function settings(all: readonly Subscriber[], browsers: readonly SimulatedBrowser[]) {
  /** How many pushes to an endpoint are still to stall. */
  const stalls = new Map(
    browsers.map(({ endpoint }, index) => {
      const { conduct, times } = all[index]!;
      return [endpoint, 'stall' in conduct.behaviour ? times : 0];
    }),
  );
  return {
    sleep: skipWaits,
    extraOrigins: services.map(({ origin }) => origin),
    transport: (request: PushRequest) => {
      const endpoint = request.origin + request.path;
      const left = stalls.get(endpoint)!;
      stalls.set(endpoint, left - 1);
      return transport(left > 0 ? { ...request, timeoutMs: stallTimeout } : request);
    },
  };
}

function expectAddedUp({ attempted, delivered, removed, failed, failures }: DeliveryReport): void {
  expect(attempted).toBe(delivered + removed + failed);
  const reasons = Object.values(failures).reduce((sum, number) => sum + number, 0);
  expect(reasons).toBe(failed);
}

test('attempted = delivered + removed + failed, and each is what the push services’ answers mean, whatever mixture they give', async () => {
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
    expectAddedUp(report);
    const fates = all.map(rightFate);
    const count = (wanted: Fate) => fates.filter((fate) => fate === wanted).length;
    expect(report).toMatchObject({
      attempted: all.length,
      delivered: count('delivered'),
      removed: count('removed'),
      failed: count('failed'),
      unreached: 0,
    });
    const gone = browsers.filter((_, index) => fates[index] === 'removed');
    const hashes = gone.map((browser) => recipient(browser.toJSON()).endpointHash);
    expect(removed.sort()).toEqual(hashes.sort());
  });
  await fc.assert(property, cases(mixtures));
});

test('attempted = delivered + removed + failed at the deadline too, which leaves out the rest and counts it', async () => {
  const property = fc.asyncProperty(subscribers, fc.nat({ max: 80 }), async (all, until) => {
    const browsers = subscribe(all);
    const { transport: limited, ...rest } = settings(all, browsers);
    let now = Date.now();
    const lastPushAt = now + until;
    let pushes = 0;
    const report = await deliver(
      { audience: audience(all, browsers), lastPushAt },
      {
        ...rest,
        // So few at once that many still wait for their turn when the time is up.
        inFlight: { overall: 12, perLane: 6, atFirst: 2, atLeast: 1 },
        clock: () => new Date(now),
        // A clock that goes on by 1 ms for each push that is begun, and stands still otherwise.
        transport: (request) => {
          now += 1;
          pushes += 1;
          return limited(request);
        },
      },
    );
    expectAddedUp(report);
    expect(report.attempted + report.unreached).toBe(all.length);
    expect(pushes).toBeLessThanOrEqual(until);
    const received = browsers.filter(({ messages }) => messages.length > 0).length;
    expect(report.delivered).toBeGreaterThanOrEqual(received);
    for (const { messages } of browsers) expect(messages.length).toBeLessThanOrEqual(1);
  });
  await fc.assert(property, cases(mixtures));
});

test('what cannot be deleted counts as failed, and nothing twice', async () => {
  const property = fc.asyncProperty(
    subscribers,
    fc.array(fc.boolean(), { minLength: 2, maxLength: 2 }),
    async (all, [first]) => {
      const everyone = [...all, ...Array.from({ length: 60 }, () => gone)];
      const browsers = subscribe(everyone);
      let batches = 0;
      let deleted = 0;
      const report = await deliver(
        {
          audience: audience(everyone, browsers),
          remove: async (hashes) => {
            batches += 1;
            if ((batches === 1) === first) throw new Error('throttled');
            deleted += hashes.length;
          },
        },
        settings(everyone, browsers),
      );
      expectAddedUp(report);
      expect(report.attempted).toBe(everyone.length);
      expect(report.removed).toBe(deleted);
    },
  );
  await fc.assert(property, cases(20));
});

const gone: Subscriber = {
  service: 0,
  conduct: final({ gone: true }, 'removed'),
  times: 1,
  sound: true,
};
