import type { Recipient } from '../../../../contract/infrastructure/slice.ts';
import type { Chunk } from '../../../fixtures/chunk.ts';
import { fcm, mozilla, pushVirtually, recipientsAt } from '../../../fixtures/virtual-pushing.ts';

const wns = 'https://wns2-par02p.notify.windows.com';

async function pushesWith(options: Chunk['options'], recipients: readonly Recipient[]) {
  const { done, pushes } = pushVirtually({ recipients, options });
  await done;
  return pushes;
}

const fixed = {
  Authorization: 'vapid t=x',
  'Content-Encoding': 'aes128gcm',
  'Content-Type': 'application/octet-stream',
};

test.each([
  [{}, { TTL: '2419200' }],
  [{ ttl: 60 }, { TTL: '60' }],
  [{ ttl: 0 }, { TTL: '0' }],
  [{ urgency: 'normal' }, { TTL: '2419200' }],
  [
    { ttl: 5, urgency: 'very-low' },
    { TTL: '5', Urgency: 'very-low' },
  ],
] as const)('the options %j become the headers %j', async (options, headers) => {
  const [push] = await pushesWith(options, recipientsAt(fcm, 1));
  expect(push!.headers).toEqual({ ...fixed, ...headers });
});

test.each([
  [wns, 0, 'no-cache'],
  [wns, 1, undefined],
  [mozilla, 0, undefined],
])('to %s with a TTL of %i, X-WNS-Cache-Policy is %s', async (origin, ttl, policy) => {
  const [push] = await pushesWith({ ttl }, recipientsAt(origin, 1));
  expect(push!.headers['X-WNS-Cache-Policy']).toBe(policy);
});

test('without a topic, the pushes to an origin share their headers', async () => {
  const pushes = await pushesWith({ urgency: 'high' }, recipientsAt(fcm, 40));
  expect(new Set(pushes.map(({ headers }) => headers)).size).toBe(1);
});

test('each subscription has its own topic, which a retry repeats', async () => {
  const [first, second] = recipientsAt(fcm, 2);
  const recipients = [first!, { ...second!, auth: Buffer.alloc(16, 7) }];
  const { done, pushes } = pushVirtually(
    { recipients, options: { topic: 'score' } },
    (_, time) => ({ status: time.now < 100 ? 503 : 201 }),
  );
  await done;
  const topics = (path: string) =>
    pushes.filter((push) => push.path === path).map(({ headers }) => headers.Topic);
  const [one, other] = recipients.map(({ path }) => topics(path));
  expect(one).toHaveLength(2);
  expect(one![0]).toMatch(/^[\w-]{32}$/);
  expect(one![1]).toBe(one![0]);
  expect(other![1]).toBe(other![0]);
  expect(other![0]).not.toBe(one![0]);
});
