import { spawnSync } from 'node:child_process';
import type { Recipient } from '../../../../contract/infrastructure/slice.ts';
import { failureFacts, failureReasonNames } from '../../../../contract/wire/counts.ts';
import {
  type Outcome,
  outcomeOf,
  type Step,
  stepAfter,
} from '../../../../lambdas/push/pushing/push.ts';
import type { Chunk } from '../../../fixtures/chunk.ts';
import { fcm, mozilla, pushVirtually, recipientsAt } from '../../../fixtures/virtual-pushing.ts';

const now = new Date('2026-11-20T12:00:00Z');

function outcome(status: number, { headers = {}, body = '' } = {}) {
  return outcomeOf({ status, headers, body }, () => now);
}

test.each([200, 201, 202])('%i is delivered', (status) => {
  expect(outcome(status)).toEqual({ kind: 'delivered' });
});

test.each([404, 410])('%i is gone', (status) => {
  expect(outcome(status)).toEqual({ kind: 'gone' });
});

test.each([
  ['received', 'delivered'],
  ['dropped', 'failed'],
  ['channelthrottled', 'failed'],
])('an accepted message of the state "%s" is %s', (state, kind) => {
  expect(outcome(201, { headers: { 'x-wns-status': state } })).toMatchObject({ kind });
});

test.each([406, 429])('%i may pass: throttled', (status) => {
  expect(outcome(status)).toEqual({ kind: 'transient', reason: 'throttled' });
});

// 520 and 529 are those of proxies.
test.each([408, 425, 500, 502, 503, 504, 507, 520, 529, 599])(
  '%i may pass: unavailable',
  (status) => {
    expect(outcome(status)).toEqual({ kind: 'transient', reason: 'unavailable' });
  },
);

test.each([
  ['7', 7000],
  ['0', 0],
  ['Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
  ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
])('Retry-After: %s is a wait of %i ms', (value, retryAfterMs) => {
  expect(outcome(429, { headers: { 'retry-after': value } })).toMatchObject({ retryAfterMs });
});

test('an unreadable Retry-After is ignored', () => {
  expect(outcome(503, { headers: { 'retry-after': 'soon' } })).toEqual({
    kind: 'transient',
    reason: 'unavailable',
  });
});

test.each([
  [400, '', 'refused'],
  [400, '{"reason":"VapidPkHashMismatch"}', 'key_mismatch'],
  [401, '{"errno":109,"message":"VAPID public key mismatch"}', 'key_mismatch'],
  [401, '{"errno":109,"message":"Invalid bearer token: Auth > 24 hours"}', 'vapid_refused'],
  [403, '', 'vapid_refused'],
  [403, 'the key in the authorization header do not correspond to the sender', 'key_mismatch'],
  [403, '{"error":{"status":"PERMISSION_DENIED","message":"MismatchSenderId"}}', 'key_mismatch'],
  [400, 'MismatchSenderId', 'refused'],
  [413, '', 'too_large'],
  [301, '', 'refused'],
  [308, '', 'refused'],
  [418, '', 'refused'],
  [501, '', 'refused'],
  [505, '', 'refused'],
])('%i "%s" has failed: %s', (status, body, reason) => {
  expect(outcome(status, { body })).toEqual({ kind: 'failed', reason });
});

test.each(failureReasonNames)('%s is what a status means, or a function names it', (reason) => {
  const { statuses, isRetried } = failureFacts(reason);
  for (const status of statuses ?? []) {
    expect(outcome(status)).toEqual({ kind: isRetried ? 'transient' : 'failed', reason });
  }
  const search = ['grep', '--untracked', '-lF', `'${reason}'`, '--', 'lambdas'];
  if (!statuses) expect(spawnSync('git', search, { encoding: 'utf8' }).stdout).not.toBe('');
});

const outcomes = {
  delivered: { kind: 'delivered' },
  gone: { kind: 'gone' },
  refused: { kind: 'failed', reason: 'refused' },
  key_mismatch: { kind: 'failed', reason: 'key_mismatch' },
  throttled: { kind: 'transient', reason: 'throttled' },
  'for 30 s': { kind: 'transient', reason: 'throttled', retryAfterMs: 30_000 },
  reset: { kind: 'transient', reason: 'no_response' },
  'timeout while connecting': { kind: 'transient', reason: 'no_response', isTimeout: true },
  timeout: { kind: 'transient', reason: 'no_response', isTimeout: true, mayHaveArrived: true },
  'reset after the last byte': { kind: 'transient', reason: 'no_response', mayHaveArrived: true },
  unavailable: { kind: 'transient', reason: 'unavailable' },
} as const satisfies Record<string, Outcome>;

/** The first attempt of a push that nobody waits for, with much time left. */
const push = {
  ...{ attempts: 1, refusals: 0, hasOtherPair: false, isAwaited: false, msLeft: 1_000_000 },
  random: 0,
};

const noResponse = { kind: 'failed', reason: 'no_response' } as const;
const settled = { kind: 'settle' };
const again = (afterMs: number): Step => ({ kind: 'retry', afterMs });

test.each<[keyof typeof outcomes, Partial<typeof push>, object]>([
  ['delivered', { hasOtherPair: true }, { ...settled, as: outcomes.delivered }],
  ['gone', { hasOtherPair: true }, { ...settled, as: outcomes.gone }],
  ['refused', { hasOtherPair: true }, { ...settled, as: outcomes.refused }],
  ['key_mismatch', {}, { ...settled, as: outcomes.key_mismatch }],
  ['key_mismatch', { hasOtherPair: true, attempts: 3, msLeft: 0 }, { kind: 'use_other_pair' }],
  // Half of each pause is random.
  ['unavailable', {}, again(250)],
  ['unavailable', { random: 0.5 }, again(375)],
  ['unavailable', { hasOtherPair: true, isAwaited: true }, again(250)],
  ['unavailable', { attempts: 2 }, again(500)],
  ['unavailable', { attempts: 3 }, settled],
  ['unavailable', { msLeft: 251 }, again(250)],
  ['unavailable', { msLeft: 250 }, settled],
  // A refusal is no attempt.
  ['throttled', { attempts: 0, refusals: 1 }, again(500)],
  ['throttled', { attempts: 2, refusals: 3 }, again(2000)],
  ['throttled', { attempts: 0, refusals: 40 }, again(30_000)],
  ['throttled', { attempts: 0, refusals: 40, msLeft: 30_000 }, settled],
  ['for 30 s', { attempts: 0, refusals: 9 }, again(30_000)],
  [
    'for 30 s',
    { refusals: 1, msLeft: 30_000 },
    { ...settled, as: { kind: 'failed', reason: 'throttled' } },
  ],
  ['reset', { isAwaited: true }, again(250)],
  ['timeout while connecting', {}, again(250)],
  ['timeout while connecting', { isAwaited: true }, { ...settled, as: noResponse }],
  // The push service may have accepted it.
  ['timeout', {}, { ...settled, as: noResponse }],
  ['timeout', { isAwaited: true }, { ...settled, as: noResponse }],
  ['reset after the last byte', {}, { ...settled, as: noResponse }],
])('after %s, a push with %j takes the step %j', (name, change, step) => {
  expect(stepAfter(outcomes[name], { ...push, ...change })).toMatchObject(step);
});

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
