import { retryPauseMs } from '../../sdk/common/retry-pause.ts';

const hour = 60 * 60 * 1000;

test('pauses grow threefold up to an hour, and at most half of each is cut at random', () => {
  const failures = [1, 2, 3, 4, 5, 6, 7, 100];
  const longest = [10_000, 30_000, 90_000, 270_000, 810_000, 2_430_000, hour, hour];
  const pauses = (random: number) =>
    failures.map((count) => retryPauseMs(10_000, count, undefined, random));
  expect(pauses(1)).toEqual(longest);
  expect(pauses(0)).toEqual(longest.map((pauseMs) => pauseMs / 2));
});

test('a Retry-After is waited for before the pause, so that nobody returns early', () => {
  expect(retryPauseMs(10_000, 1, 60, 0)).toBe(60_000 + 5_000);
  expect(retryPauseMs(10_000, 1, 60, 1)).toBe(60_000 + 10_000);
});
