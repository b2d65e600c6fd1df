import { noCounts } from '../../../../contract/wire/counts.ts';
import type { Outcome, Push } from '../../../../lambdas/push/pushing/push.ts';
import {
  type InFlightLimits,
  inFlight,
  nextToStart,
  Pace,
  PushService,
  Queue,
} from '../../../../lambdas/push/pushing/push-service.ts';
import { countsOf, pusherOptions, vapid } from '../../../fixtures/chunk.ts';
import {
  fcm,
  mozilla,
  pushVirtually,
  recipientsAt,
  virtualPushing,
} from '../../../fixtures/virtual-pushing.ts';

const limits: InFlightLimits = {
  ...inFlight,
  ...{ overall: 16, perPushService: 12, others: 3, initial: 4, minimum: 2 },
};

/** A push service with this many pushes queued, of which some are in flight. */
function service(queued: number, inFlight: number, its = limits): PushService {
  const created = new PushService(
    'one',
    its,
    () => undefined,
    () => {},
  );
  const pair = { number: 0, ...vapid };
  for (const one of recipientsAt(fcm, queued)) created.add(one, encrypt, pair, 0);
  for (let push = 0; push < inFlight; push += 1) start(created);
  return created;
}

const encrypt = () => Buffer.of();

function start(one: PushService, now = 0): void {
  one.take();
  one.start(now);
}

test('the push service with the fewest pushes in flight comes first', () => {
  const [idle, busy] = [service(3, 0), service(3, 1)];
  expect(nextToStart([idle, busy], 0)).toBe(idle);
  expect(nextToStart([busy, idle], 0)).toBe(idle);
});

test('a push service without queued pushes, or at its limit, does not come', () => {
  const [empty, atLimit, busy] = [service(0, 0), service(9, 4), service(3, 1)];
  expect(nextToStart([empty, atLimit, busy], 0)).toBe(busy);
  expect(nextToStart([empty, atLimit], 0)).toBeUndefined();
});

test('further recipients wait for a push service that only the pace holds up, and not for one that is slow', () => {
  const [held, slow] = [service(9, 0), service(9, 1)];
  const [recipient] = recipientsAt(fcm, 1);
  start(held);
  held.ended({ recipient } as Push, { kind: 'delivered' }, 60, 60, 0);
  expect(held.isBusy(5000, 4)).toBe(true);
  expect(slow.isBusy(5000, 4)).toBe(false);
});

test.each([
  { last: 'prompt', tookMs: 60, isBusy: true },
  { last: 'slow', tookMs: 3000, isBusy: false },
])(
  'a push after seconds without one is taken for $last, as the last response was',
  ({ tookMs, isBusy }) => {
    const rare = service(9, 1);
    const [recipient] = recipientsAt(fcm, 1);
    rare.ended({ recipient } as Push, { kind: 'delivered' }, tookMs, tookMs, 0);
    start(rare, 5000);
    expect(rare.isBusy(5000, 4)).toBe(isBusy);
  },
);

describe('the limit of pushes in flight', () => {
  const delivered: Outcome = { kind: 'delivered' };
  const failing: Outcome = { kind: 'transient', reason: 'unavailable' };
  const [recipient] = recipientsAt(fcm, 1);
  const ended = { recipient } as Push;
  /** Others take half of all connections. */
  const besides = 8;

  /** A push service that is kept full. */
  function full(its = limits) {
    const kept = service(1000, 0, its);
    const fill = () => {
      while (kept.canStart(0)) start(kept);
      return kept.inFlight;
    };
    fill();
    return {
      fill,
      /** Ends pushes one by one. @returns how many are in flight then. */
      end(pushes: number, { outcome = delivered, tookMs = 60, besides = 0 } = {}): number {
        for (let push = 0; push < pushes; push += 1) {
          kept.ended(ended, outcome, 0, tookMs, kept.inFlight - 1 + besides);
          fill();
        }
        return kept.inFlight;
      },
    };
  }

  test('grows by one with each prompt response, from the initial one up to the most', () => {
    const { fill, end } = full();
    expect(fill()).toBe(4);
    expect(end(3, { besides })).toBe(7);
    expect(end(20, { besides })).toBe(12);
  });

  test('shrinks to the initial one when pushes are slow', () => {
    const { end } = full();
    end(20);
    expect(end(1, { tookMs: 1000, besides })).toBe(11);
    expect(end(30, { tookMs: 1000, besides })).toBe(4);
  });

  test('shrinks to the lowest one when pushes fail, however promptly', () => {
    const { end } = full();
    end(20);
    expect(end(30, { outcome: failing, besides })).toBe(2);
  });

  test('grows also with slow and failed pushes while half of all connections are free', () => {
    for (const conduct of [{ tookMs: 1000 }, { outcome: failing }]) {
      const { end } = full({ ...limits, overall: 40, perPushService: 30 });
      expect(end(100, conduct)).toBe(20);
    }
  });
});

function queueOf(...items: number[]): Queue<number> {
  const queue = new Queue<number>();
  for (const item of items) queue.add(item);
  return queue;
}

test('gives items in order, also those that are added meanwhile', () => {
  const queue = queueOf(1, 2, 3);
  expect([queue.take(), queue.take()]).toEqual([1, 2]);
  queue.add(4);
  expect(queue.length).toBe(2);
  expect([queue.take(), queue.take()]).toEqual([3, 4]);
  expect(queue.length).toBe(0);
});

test('shows the first items that have not been taken', () => {
  const queue = queueOf(1, 2, 3, 4);
  queue.take();
  expect(queue.first(2)).toEqual([2, 3]);
  expect(queue.first(9)).toEqual([2, 3, 4]);
  expect(queue.length).toBe(3);
});

test('is drained, and may be used again', () => {
  const queue = queueOf(1, 2, 3);
  queue.take();
  expect(queue.drain()).toEqual([2, 3]);
  expect(queue.length).toBe(0);
  queue.add(4);
  expect(queue.take()).toBe(4);
});

function perSecond(times: readonly number[]): number {
  const counts = times.map((from) => times.filter((at) => at >= from && at < from + 1000).length);
  return Math.max(...counts);
}

test('starts at most the given number of pushes per second, over all push services', async () => {
  const recipients = [...recipientsAt(fcm, 1500), ...recipientsAt(mozilla, 1500)];
  const { done, pushes } = pushVirtually({ recipients, pushesPerSecond: 1000 });
  expect(await done).toMatchObject({ delivered: 3000 });
  const times = pushes.map(({ at }) => at);
  expect(perSecond(times)).toBeLessThanOrEqual(1050);
  expect(times.at(-1)).toBeGreaterThan(2900);
  expect(times.at(-1)).toBeLessThan(3100);
});

test('retries count', async () => {
  let attempts = 0;
  const { done, pushes } = pushVirtually(
    { recipients: recipientsAt(fcm, 300), pushesPerSecond: 100 },
    () => ({ status: ++attempts <= 300 ? 503 : 201 }),
  );
  expect(await done).toMatchObject({ delivered: 300 });
  expect(perSecond(pushes.map(({ at }) => at))).toBeLessThanOrEqual(105);
});

test('waits with one timer', async () => {
  const { done, time } = pushVirtually({
    recipients: recipientsAt(fcm, 100),
    pushesPerSecond: 10,
  });
  let most = 0;
  for (let at = 0; at < 9000; at += 10) {
    time.at(at, () => {
      most = Math.max(most, time.sleeping);
    });
  }
  await done;
  // The other one is that of the end.
  expect(most).toBe(2);
});

test('a slow pace does not outlast the last push', async () => {
  const { done, time } = pushVirtually({
    recipients: recipientsAt(fcm, 3),
    pushesPerSecond: 0.01,
  });
  expect(await done).toMatchObject({ delivered: 1, unreached: 2 });
  expect(time.now).toBe(20_000);
});

test('makes up for 50 ms, and no more', () => {
  const pace = new Pace(1000, 0);
  let starts = 0;
  while (pace.start(5000) === 0) starts += 1;
  expect(starts).toBe(51);
});

test('an infinite rate never waits', () => {
  const pace = new Pace(Number.POSITIVE_INFINITY, 0);
  for (let start = 0; start < 1000; start += 1) expect(pace.start(0)).toBe(0);
});

// A push starts when its bytes are written. A connection may take seconds to open.

/** Connections that take so long to open, but for those that are open by then. */
function slowToOpen(opensAfter: number, count: number) {
  let opened = 0;
  return () => {
    opened += 1;
    return { status: 201, opensAfter: opened > count ? 0 : opensAfter };
  };
}

test('a push that is stopped while its connection opens is not sent', async () => {
  const { startPushing, time, pushes } = virtualPushing(slowToOpen(8000, 3));
  const times = { lastPushAt: 22_000, pausesAt: 22_000, endAt: 25_000, lastAttemptAt: 22_000 };
  const pusher = startPushing({ ...pusherOptions, times });
  pusher.add(recipientsAt(fcm, 3), { current: { number: 0, ...vapid } }, 0);
  time.at(200, () => pusher.stop());
  expect(await time.until(countsOf(pusher))).toEqual({ ...noCounts, unreached: 3 });
  expect(pushes).toEqual([]);
});

test('a push whose connection opens during a pause is sent after it, as its first attempt', async () => {
  const { startPushing, time, pushes } = virtualPushing(slowToOpen(4000, 3));
  const times = { lastPushAt: 22_000, pausesAt: 3000, endAt: 25_000, lastAttemptAt: 22_000 };
  const pusher = startPushing({ ...pusherOptions, times });
  pusher.add(recipientsAt(fcm, 3), { current: { number: 0, ...vapid } }, 0);
  time.at(9000, () => {
    times.pausesAt = 22_000;
  });
  expect(await time.until(countsOf(pusher))).toMatchObject({ attempted: 3, delivered: 3 });
  expect(pushes).toHaveLength(3);
  expect(pushes.every(({ at }) => at >= 9000)).toBe(true);
});

test('a push whose connection opens after the last push is unreached', async () => {
  const recipients = recipientsAt(fcm, 3);
  const { done, pushes } = pushVirtually({ recipients, lastPushAt: 1000 }, slowToOpen(2000, 3));
  expect(await done).toEqual({ ...noCounts, unreached: 3 });
  expect(pushes).toEqual([]);
});

test('a browser that passes to another user while the connection opens gets nothing', async () => {
  const recipients = recipientsAt(fcm, 3);
  const isStillWanted = async ({ path }: { readonly path: string }) => path !== '/push/1';
  const { done, pushes } = pushVirtually({ recipients, isStillWanted }, slowToOpen(2500, 3));
  expect(await done).toEqual({ ...noCounts, attempted: 2, delivered: 2, unreached: 1 });
  expect(pushes.map(({ path }) => path)).toEqual(['/push/0', '/push/2']);
});

test('a push that may not start takes nothing from the pace', async () => {
  const { done, pushes } = pushVirtually(
    { recipients: recipientsAt(fcm, 2), pushesPerSecond: 0.1, isStillWanted: async () => true },
    slowToOpen(2500, 1),
  );
  expect(await done).toMatchObject({ delivered: 2 });
  expect(pushes.map(({ at }) => at)).toEqual([2500, 12_450]);
});

const origins = Array.from({ length: 2000 }, (_, index) => `https://x${index}.push.apple.com`);

/** Three recipients at each origin, in the order in which a table has them: mixed. */
const recipients = [0, 1, 2].flatMap((number) =>
  origins.flatMap((origin) => recipientsAt(origin, number + 1).slice(number)),
);

test('one token is signed for each origin, when its first push is prepared', async () => {
  // Nothing of so many hosts may be waited for.
  const many = { inFlight: { ...inFlight, others: 360 } };
  const { done, pushes, signed } = pushVirtually({ recipients }, undefined, many);
  expect(signed).toHaveLength(32);
  expect(await done).toEqual({ ...noCounts, attempted: 6000, delivered: 6000 });
  expect(signed.sort()).toEqual([...origins].sort());
  expect(pushes).toHaveLength(6000);
});
