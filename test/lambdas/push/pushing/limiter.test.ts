import { type InFlightLimits, Limiter } from '../../../../lambdas/push/pushing/limiter.ts';

/** A limiter that is kept full. */
function full(limits: InFlightLimits) {
  const limiter = new Limiter(limits);
  const fill = () => {
    while (limiter.hasRoom()) limiter.started();
    return limiter.inFlight;
  };
  fill();
  return {
    fill,
    /** Ends pushes one by one. @returns how many are in flight then. */
    end(pushes: number, { succeeded = true, tookMs = 60, besides = 0 } = {}): number {
      for (let push = 0; push < pushes; push += 1) {
        limiter.ended(succeeded, tookMs, limiter.inFlight - 1 + besides);
        fill();
      }
      return limiter.inFlight;
    },
  };
}

const limits = { overall: 16, perPushService: 12, initial: 4, minimum: 2 };
/** Others take half of all connections. */
const besides = 8;

test('begins with few pushes, and may have one more with each prompt success, up to the limit', () => {
  const limiter = full(limits);
  expect(limiter.fill()).toBe(4);
  expect(limiter.end(3, { besides })).toBe(7);
  expect(limiter.end(20, { besides })).toBe(12);
});

test('shrinks to the initial limit when pushes are slow', () => {
  const limiter = full(limits);
  limiter.end(20);
  expect(limiter.end(1, { tookMs: 1000, besides })).toBe(11);
  expect(limiter.end(30, { tookMs: 1000, besides })).toBe(4);
});

test('shrinks to the minimum when pushes fail, however promptly', () => {
  const limiter = full(limits);
  limiter.end(20);
  expect(limiter.end(30, { succeeded: false, besides })).toBe(2);
});

test('a slow or failing push service may have more while half of all connections are free', () => {
  for (const conduct of [{ tookMs: 1000 }, { succeeded: false }]) {
    const limiter = full({ overall: 40, perPushService: 30, initial: 4, minimum: 2 });
    expect(limiter.end(100, conduct)).toBe(20);
  }
});
