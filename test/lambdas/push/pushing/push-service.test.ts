import type { InFlightLimits } from '../../../../lambdas/push/pushing/limiter.ts';
import type { Push } from '../../../../lambdas/push/pushing/push.ts';
import { nextToStart, PushService } from '../../../../lambdas/push/pushing/push-service.ts';

const limits: InFlightLimits = { overall: 10, perPushService: 10, initial: 2, minimum: 1 };

/** A push service with this many pushes queued, of which some are in flight. */
function service(queued: number, inFlight: number): PushService {
  const created = new PushService('one', limits, () => {});
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
  const [empty, atLimit, busy] = [service(0, 0), service(3, 2), service(3, 1)];
  expect(nextToStart([empty, atLimit, busy])).toBe(busy);
  expect(nextToStart([empty, atLimit])).toBeUndefined();
});
