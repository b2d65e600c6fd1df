import { randomBytes } from 'node:crypto';
import { newVapidPair } from '../../admin/vapid-pair.ts';
import { NoResponseError } from '../../lambdas/push/transport/response.ts';
import type { PushRequest } from '../../lambdas/push/transport/transport.ts';
import { pushOverNetwork } from '../fixtures/network-pushing.ts';
import { recipient } from '../fixtures/recipient.ts';
import { Scheduler } from '../simulation/time/scheduler.ts';

/** Per push service. Enough that the fixed delay, some tenths of a second, is under a tenth. */
const subscribers = 6000;
const healthy = ['https://fcm.googleapis.com', 'https://updates.push.services.mozilla.com'];
const slow = 'https://web.push.apple.com';

/** CPU time of one push: about that of a function with one vCPU. */
const workMs = 0.4;
/** Response times of a healthy push service, used in turn so that every run is the same. */
const latenciesMs = [45, 50, 55, 60, 60, 65, 75, 90, 130, 400];

const keys = { p256dh: newVapidPair().publicKey, auth: randomBytes(16).toString('base64url') };

interface PushResult {
  readonly afterMs: number;
  /** Absent if the push gets no response. */
  readonly status?: number;
  readonly retryAfter?: string;
}

/** Time in ms until two push services have responded to all their pushes, with or without a third. */
async function timeUntilServed(third?: (timeoutMs: number) => PushResult): Promise<number> {
  const time = new Scheduler();
  const origins = third === undefined ? healthy : [...healthy, slow];
  let pushes = 0;
  let pending = healthy.length * subscribers;
  let served: () => void;
  const allServed = new Promise<void>((resolve) => {
    served = resolve;
  });

  const resultOf = ({ origin, timeoutMs }: PushRequest): PushResult =>
    origin === slow
      ? third!(timeoutMs)
      : { afterMs: latenciesMs[pushes++ % latenciesMs.length]!, status: 201 };
  void pushOverNetwork(
    {
      recipients: origins.flatMap((origin) =>
        Array.from({ length: subscribers }, (_, index) =>
          recipient({ endpoint: `${origin}/push/${index}`, keys }),
        ),
      ),
      lastPushAt: 600_000,
      endAt: 600_000,
    },
    {
      clock: time.clock,
      sleep: time.sleep,
      transport: (request) => {
        time.work(workMs);
        const { afterMs, status, retryAfter } = resultOf(request);
        return new Promise((resolve, reject) => {
          time.after(afterMs, () => {
            if (request.origin !== slow) pending -= 1;
            if (pending === 0) served();
            if (status === undefined) reject(new NoResponseError('No response.'));
            else resolve({ status, headers: { 'retry-after': retryAfter }, body: '' });
          });
        });
      },
    },
  );
  await time.until(allServed);
  return time.now;
}

let baselineMs: number;
beforeAll(async () => {
  baselineMs = await timeUntilServed();
});

describe('a slow, silent, throttling or unavailable push service delays the others by at most a tenth', () => {
  test.each<[string, (timeoutMs: number) => PushResult]>([
    ['responds after 1.5 s', () => ({ afterMs: 1500, status: 201 })],
    ['responds after 3 s', () => ({ afterMs: 3000, status: 201 })],
    ['responds after 9 s', () => ({ afterMs: 9000, status: 201 })],
    ['never responds', (timeoutMs) => ({ afterMs: timeoutMs })],
    ['429 with Retry-After: 5', () => ({ afterMs: 60, status: 429, retryAfter: '5' })],
    ['429 without Retry-After', () => ({ afterMs: 60, status: 429 })],
    ['503', () => ({ afterMs: 60, status: 503 })],
    ['refuses connections', () => ({ afterMs: 1 })],
  ])('%s', async (_, third) => {
    expect(await timeUntilServed(third)).toBeLessThanOrEqual(1.1 * baselineMs);
  });
});

test('a healthy push service delays the others only by its share of the processor', async () => {
  const withThirdMs = await timeUntilServed(() => ({ afterMs: 60, status: 201 }));
  expect(withThirdMs / baselineMs).toBeGreaterThan(1.3);
  expect(withThirdMs / baselineMs).toBeLessThan(1.6);
});
