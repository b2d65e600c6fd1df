import type { Outcome, Push } from '../../../../lambdas/push/pushing/push.ts';
import {
  type InFlightLimits,
  nextToStart,
  PushService,
  Queue,
} from '../../../../lambdas/push/pushing/push-service.ts';

const limits: InFlightLimits = { overall: 16, perPushService: 12, initial: 4, minimum: 2 };

/** A push service with this many pushes queued, of which some are in flight. */
function service(queued: number, inFlight: number, its = limits): PushService {
  const created = new PushService('one', its, () => {});
  for (let push = 0; push < queued; push += 1) created.queue.add({} as Push);
  for (let push = 0; push < inFlight; push += 1) created.start(0);
  return created;
}

test('the push service with the fewest pushes in flight comes first', () => {
  const [idle, busy] = [service(3, 0), service(3, 1)];
  expect(nextToStart([idle, busy])).toBe(idle);
  expect(nextToStart([busy, idle])).toBe(idle);
});

test('a push service without queued pushes, or at its limit, does not come', () => {
  const [empty, atLimit, busy] = [service(0, 0), service(9, 4), service(3, 1)];
  expect(nextToStart([empty, atLimit, busy])).toBe(busy);
  expect(nextToStart([empty, atLimit])).toBeUndefined();
});

describe('the limit of pushes in flight', () => {
  const delivered: Outcome = { kind: 'delivered' };
  const failing: Outcome = { kind: 'transient', reason: 'unavailable' };
  /** Others take half of all connections. */
  const besides = 8;

  /** A push service that is kept full. */
  function full(its = limits) {
    const kept = service(1000, 0, its);
    const fill = () => {
      while (kept.canStart()) kept.start(0);
      return kept.inFlight;
    };
    fill();
    return {
      fill,
      /** Ends pushes one by one. @returns how many are in flight then. */
      end(pushes: number, { outcome = delivered, tookMs = 60, besides = 0 } = {}): number {
        for (let push = 0; push < pushes; push += 1) {
          kept.ended(outcome, 0, tookMs, kept.inFlight - 1 + besides, 1000);
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
      const { end } = full({ overall: 40, perPushService: 30, initial: 4, minimum: 2 });
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
