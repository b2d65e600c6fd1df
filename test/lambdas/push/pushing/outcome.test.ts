import { outcomeOf } from '../../../../lambdas/push/pushing/push.ts';

const now = new Date('2026-11-20T12:00:00Z');

function outcome(status: number, { headers = {}, body = '' } = {}) {
  return outcomeOf({ status, headers, body }, now);
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
