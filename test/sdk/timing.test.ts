import { remainingMs, retryAfterSecondsOf, retryPauseMs, within } from '../../sdk/common/timing.ts';

const hourMs = 60 * 60 * 1000;

test('each pause is three times the previous one, up to an hour, and half of it is random', () => {
  const failures = [1, 2, 3, 4, 5, 6, 7, 100];
  const longestMs = [10_000, 30_000, 90_000, 270_000, 810_000, 2_430_000, hourMs, hourMs];
  const pauses = (random: number) =>
    failures.map((count) => retryPauseMs(10_000, count, undefined, random));
  expect(pauses(1)).toEqual(longestMs);
  expect(pauses(0)).toEqual(longestMs.map((pauseMs) => pauseMs / 2));
});

test('the pause starts after Retry-After', () => {
  expect(retryPauseMs(10_000, 1, 60, 0)).toBe(60_000 + 5_000);
  expect(retryPauseMs(10_000, 1, 60, 1)).toBe(60_000 + 10_000);
});

test.each([2 * 60 * 60, 365 * 24 * 60 * 60, Number.POSITIVE_INFINITY])(
  'a Retry-After of %p s counts an hour',
  (seconds) => {
    expect(retryPauseMs(10_000, 1, seconds, 1)).toBe(hourMs + 10_000);
  },
);

test.each([
  ['that has begun', 1000, 1000],
  ['that is over', -1000, -1000],
  ['of the longest length', 2 * hourMs, 2 * hourMs],
  ['that is longer, so that the clock was wrong,', 2 * hourMs + 1, 0],
  ['that ends in years', 5 * 365 * 24 * hourMs, 0],
])('of a pause %s there remain %p ms', (_, length, expected) => {
  const now = Date.UTC(2026, 10, 20);
  expect(remainingMs(now + length, now)).toBe(expected);
});

test.each<[string, () => unknown, object | string]>([
  ['never settles', () => new Promise(() => {}), { name: 'TimeoutError' }],
  [
    'throws',
    () => {
      throw new Error('at once');
    },
    { message: 'at once' },
  ],
  ['rejects', () => Promise.reject(new Error('later')), { message: 'later' }],
  ['is no promise', () => 7, { name: 'TypeError' }],
  ['resolves', async () => 7, '7'],
])('within a limit, work that %s', async (_, work, expected) => {
  const outcome = within(50, work as () => Promise<unknown>).then(String, (error) => error);
  const found = await outcome;
  if (typeof expected === 'string') expect(found).toBe(expected);
  else expect(found).toMatchObject(expected);
});

test.each([
  ['60', 60],
  ['0', undefined],
  ['-100000', undefined],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('a Retry-After of %p is a pause of %p s', (value, seconds) => {
  const headers = value === undefined ? undefined : { 'retry-after': value };
  expect(retryAfterSecondsOf(new Response(null, { headers: headers! }))).toBe(seconds);
});
