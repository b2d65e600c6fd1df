import { retryAfterSecondsOf, retryPauseMs } from '../../sdk/common/timing.ts';

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

test.each([
  ['60', 60],
  ['0', undefined],
  ['-100000', undefined],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('a Retry-After of %p is a pause of %p s', (value, seconds) => {
  const headers = value === undefined ? undefined : { 'retry-after': value };
  expect(retryAfterSecondsOf(new Response(null, { headers: headers! }))).toBe(seconds);
});
