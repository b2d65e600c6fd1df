import {
  deliveryVerdict,
  failureAdvice,
  hasNoSubscriber,
  type Judged,
} from '../../contract/delivery-verdict.ts';
import { failureReasons } from '../../contract/failure-reasons.ts';

const counts = { attempted: 0, delivered: 0, removed: 0, failed: 0 };
const verdictOf = (changes: Partial<Judged>) =>
  deliveryVerdict({ ...counts, audience: 'everyone', ...changes });

test('a send that failed for everybody reached nobody: why, and what to do', () => {
  const failures = { no_response: 1, vapid_refused: 10_000 };
  expect(verdictOf({ attempted: 10_001, failed: 10_001, failures })).toEqual({
    tone: 'bad',
    label: 'Nobody reached',
    text: 'Sent, but nobody was reached: 10,001 failed, most because the push service refused the VAPID token or its subject.',
    advice: failureAdvice.vapid_refused,
  });
});

test.each<[Partial<Judged>, string]>([
  [{ attempted: 1, failed: 1, failures: { throttled: 1 } }, ': 1 failed, because the push'],
  [{ attempted: 2, failed: 2, failures: { throttled: 2 } }, ': 2 failed, all because the push'],
  [
    { attempted: 5, failed: 5, failures: { throttled: 2, refused: 1, unavailable: 2 } },
    ': 5 failed, many because the push',
  ],
  [{ attempted: 3, removed: 3 }, ': 3 unsubscribed before, and are removed now.'],
  [{ attempted: 1, removed: 1 }, ': 1 unsubscribed before, and is removed now.'],
])('%j reached nobody%s', (changes, text) => {
  expect(verdictOf(changes).text).toContain(`Sent, but nobody was reached${text}`);
});

test.each<[Partial<Judged>, string]>([
  [{ attempted: 3, delivered: 2, removed: 1 }, 'Delivered to 2 of 3 subscribers.'],
  [{ attempted: 1, delivered: 1 }, 'Delivered to 1 of 1 subscriber.'],
  [{ attempted: 1200, delivered: 1100, removed: 100 }, 'Delivered to 1,100 of 1,200 subscribers.'],
  [{}, 'No subscriber matched: nobody is subscribed to this project.'],
  [{ audience: { users: 3 } }, 'No subscriber matched: none of the user ids has a subscription.'],
  [
    { audience: { users: 3, seenWithinDays: 7 } },
    'No subscriber matched: no subscription meets the conditions.',
  ],
  [
    { attempted: 4, delivered: 3, failed: 1, failures: { dropped: 1 } },
    'Delivered to 3 of 4 subscribers. 1 failed, because the push service accepted the message and dropped it (WNS).',
  ],
  [{ attempted: 1, delivered: 1, status: 'stopped' }, 'Stopped. Delivered to 1 of 1 subscriber.'],
])('%j is "%s"', (changes, text) => {
  expect(verdictOf(changes).text).toBe(text);
});

test.each<[Partial<Judged>, string, string | undefined]>([
  [{ attempted: 100, delivered: 100 }, 'good', undefined],
  [{ attempted: 100, delivered: 96, failed: 4 }, 'good', undefined],
  [{ attempted: 100, delivered: 95, failed: 5 }, 'warning', '5 of 100 failed'],
  [{ attempted: 100, delivered: 51, failed: 49 }, 'warning', '49 of 100 failed'],
  [{ attempted: 100, delivered: 50, failed: 50 }, 'bad', '50 of 100 failed'],
  [{ attempted: 100, removed: 99, failed: 1 }, 'bad', 'Nobody reached'],
  [{ attempted: 100, removed: 100 }, 'warning', 'Nobody reached'],
  [{ attempted: 100, delivered: 1, removed: 99 }, 'good', undefined],
  [{ attempted: 9, delivered: 9, unreached: 1200 }, 'warning', 'At least 1,200 not attempted'],
  [{ unreached: 5 }, 'warning', 'At least 5 not attempted'],
  [{}, 'neutral', undefined],
  [{ attempted: 5, failed: 5, status: 'sending' }, 'neutral', undefined],
  [{ attempted: 5, failed: 5, status: 'stopping' }, 'neutral', undefined],
  [{ attempted: 5, delivered: 4, status: 'interrupted' }, 'bad', 'Interrupted'],
])('%j has the tone %s and the label %p', (changes, tone, label) => {
  expect(verdictOf(changes)).toMatchObject({ tone });
  expect(verdictOf(changes).label).toBe(label);
});

test('a stopped notification that failed for everybody is still bad news', () => {
  const failures = { vapid_refused: 5 };
  expect(verdictOf({ attempted: 5, failed: 5, failures, status: 'stopped' })).toMatchObject({
    tone: 'bad',
    label: 'Nobody reached',
    text: expect.stringContaining('Stopped. Nobody was reached: 5 failed'),
  });
});

test('a send in progress, and one that reached nobody in time, may have subscribers', () => {
  const empty: Judged = { ...counts, audience: 'everyone' };
  expect(hasNoSubscriber(empty)).toBe(true);
  expect(hasNoSubscriber({ ...empty, status: 'sending' })).toBe(false);
  expect(hasNoSubscriber({ ...empty, unreached: 5 })).toBe(false);
});

test('every reason for failure is a sentence that may follow "because"', () => {
  for (const sentence of Object.values(failureReasons)) {
    expect(sentence).toMatch(/^(The|There|This) .*[^.]\.$/);
  }
});
