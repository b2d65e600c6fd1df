import { randomBytes } from 'node:crypto';
import type { PushRequest } from '../../lambdas/push/transport/transport.ts';
import { countingAudience } from '../fixtures/audience.ts';
import { deliver } from '../fixtures/delivery.ts';
import { keyPair } from '../fixtures/subscription.ts';
import { VirtualTime } from './fixtures/virtual-time.ts';

/** Of each. What a push service at fault costs is some tenths of a second, however many there are. */
const subscribers = 6000;
const healthy = ['https://fcm.googleapis.com', 'https://updates.push.services.mozilla.com'];
const slow = 'https://web.push.apple.com';

/** ms of a processor for one push: about what a function of one vCPU takes. */
const work = 0.4;
/** ms until a healthy push service answers: in turn, so that it is the same in every run. */
const latencies = [45, 50, 55, 60, 60, 65, 75, 90, 130, 400];

const keys = { p256dh: keyPair().publicKey, auth: randomBytes(16).toString('base64url') };

type Answer = { readonly after: number; readonly status?: number; readonly retryAfter?: string };

/** ms until two push services have answered all of their pushes, beside a third or without. */
async function timeUntilServed(third?: (timeoutMs: number) => Answer): Promise<number> {
  const time = new VirtualTime();
  const origins = third === undefined ? healthy : [...healthy, slow];
  let pushes = 0;
  let unanswered = healthy.length * subscribers;
  let served: () => void;
  const allServed = new Promise<void>((resolve) => {
    served = resolve;
  });

  const answerOf = ({ origin, timeoutMs }: PushRequest): Answer =>
    origin === slow
      ? third!(timeoutMs)
      : { after: latencies[pushes++ % latencies.length]!, status: 201 };
  void deliver(
    {
      audience: countingAudience(
        origins.flatMap((origin) =>
          Array.from({ length: subscribers }, (_, index) => ({
            endpoint: `${origin}/push/${index}`,
            keys,
          })),
        ),
        1000,
      ),
      lastPushAt: 600_000,
      endAt: 600_000,
    },
    {
      clock: time.clock,
      sleep: time.sleep,
      idleTime: time.idle,
      transport: (request) => {
        time.work(work);
        const { after, status, retryAfter } = answerOf(request);
        return new Promise((resolve, reject) => {
          time.at(time.now() + after, () => {
            if (request.origin !== slow) unanswered -= 1;
            if (unanswered === 0) served();
            if (status === undefined) reject(new Error('No answer.'));
            else resolve({ status, headers: { 'retry-after': retryAfter }, body: '' });
          });
        });
      },
    },
  );
  await time.until(allServed);
  return time.now();
}

let alone: number;
beforeAll(async () => {
  alone = await timeUntilServed();
});

describe('a push service that is slow, silent, throttling or down slows the others by no more than a tenth', () => {
  test.each<[string, (timeoutMs: number) => Answer]>([
    ['answering after 1.5 s', () => ({ after: 1500, status: 201 })],
    ['answering after 3 s', () => ({ after: 3000, status: 201 })],
    ['answering after 9 s', () => ({ after: 9000, status: 201 })],
    ['never answering', (timeoutMs) => ({ after: timeoutMs })],
    ['throttling for 5 s', () => ({ after: 60, status: 429, retryAfter: '5' })],
    ['throttling until further notice', () => ({ after: 60, status: 429 })],
    ['in trouble', () => ({ after: 60, status: 503 })],
    ['refusing connections', () => ({ after: 1 })],
  ])('%s', async (_, third) => {
    expect(await timeUntilServed(third)).toBeLessThanOrEqual(1.1 * alone);
  });
});

test('a push service that is well shares the processor with the others, and no more', async () => {
  const beside = await timeUntilServed(() => ({ after: 60, status: 201 }));
  expect(beside / alone).toBeGreaterThan(1.3);
  expect(beside / alone).toBeLessThan(1.6);
});
