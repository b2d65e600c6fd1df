import { secondsToNextMonth, utcMonth } from '../../../lambdas/store/counters.ts';

test.each([
  ['2126-11-30T23:59:59.500Z', 1],
  ['2126-12-31T23:00:00Z', 3600],
  ['2028-02-01T00:00:00Z', 29 * 24 * 60 * 60],
])('at %s the next month starts in %i s', (now, seconds) => {
  expect(secondsToNextMonth(new Date(now))).toBe(seconds);
});

test.each([
  ['2126-11-30T23:59:59.999Z', '2126-11'],
  ['2126-12-01T00:00:00Z', '2126-12'],
])('%s is in the UTC month %s', (time, month) => {
  expect(utcMonth(new Date(time))).toBe(month);
});
