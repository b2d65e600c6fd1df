import { noCounts } from '../../../contract/counts.ts';
import { overAt, statusOf } from '../../../lambdas/results/status.ts';
import { firstTallies } from '../../../lambdas/store/items.ts';
import type { Tally } from '../../../lambdas/store/tallies.ts';

const sentAt = new Date('2026-11-20T12:00:00Z');
const after = (ms: number) => new Date(sentAt.getTime() + ms);

function notification(respondedAsync = false) {
  const division = { subscribers: 90_000, shares: 2, talliesPerShare: 3, respondedAsync };
  return { division, sentAt };
}

/** A share that is claimed until this many ms after the send. */
function tally(ended?: Tally['ended'], ms = 27_000): Tally {
  const claim = { by: 'a', step: 1, until: after(ms).getTime() };
  return { claim, position: 1, pending: 0, counts: noCounts, ended, shown: 0, clicked: 0 };
}

test('the first tally of each share has its counts', () => {
  expect(firstTallies(notification().division)).toEqual([0, 3]);
});

test('a notification is sent when all its shares have ended, complete or not', () => {
  expect(statusOf(notification(), [tally('complete'), tally('incomplete')], after(0))).toBe('sent');
});

const minute = 60_000;

test.each([
  ['a share that is claimed', false, tally(), 27_000],
  ['a share that nobody has claimed', false, undefined, 29_000],
  // Lambda drops an event that is an hour old. Its last attempt may then run for 15 minutes.
  ['an asynchronous share that is claimed', true, tally(), 75 * minute + 1000],
  // A repetition of the request may start it up to a day later.
  [
    'an asynchronous share that is claimed late',
    true,
    tally(undefined, 90 * minute),
    90 * minute + 1000,
  ],
  ['an asynchronous share that waits in the queue', true, undefined, 75 * minute + 1000],
])('%s may be worked on until then, and is interrupted later', (_, respondedAsync, open, ms) => {
  const status = (now: Date) =>
    statusOf(notification(respondedAsync), [tally('complete'), open], now);
  expect(overAt(notification(respondedAsync), open)).toBe(after(ms).getTime());
  expect(status(after(ms))).toBe('sending');
  expect(status(after(ms + 1))).toBe('interrupted');
});

test('a notification is not interrupted while one of its shares may be worked on', () => {
  expect(statusOf(notification(), [tally(), undefined], after(28_000))).toBe('sending');
  expect(statusOf(notification(), [tally(), undefined], after(29_001))).toBe('interrupted');
});

const stopped = (of: Tally): Tally => ({ ...of, stoppedAt: sentAt.getTime() + 1000 });
const unclaimed = { ...stopped(tally()), claim: undefined };

test.each([
  ['whose shares have ended', [stopped(tally('complete')), stopped(tally('incomplete'))]],
  ['of which one share had ended before', [tally('complete'), stopped(tally('complete'))]],
  ['with a share that nobody has claimed', [stopped(tally('complete')), unclaimed]],
])('a stopped notification %s is stopped at once', (_, tallies) => {
  for (const respondedAsync of [false, true]) {
    expect(statusOf(notification(respondedAsync), tallies, after(1000))).toBe('stopped');
  }
});

test.each([false, true])(
  'a stopped notification is stopping until its claims have run out',
  (respondedAsync) => {
    const status = (ms: number) =>
      statusOf(notification(respondedAsync), [stopped(tally()), unclaimed], after(ms));
    expect(status(27_000)).toBe('stopping');
    expect(status(27_001)).toBe('stopped');
  },
);

test('a notification is stopping while a share that was not stopped may be worked on', () => {
  const tallies = [stopped(tally('complete')), undefined];
  expect(statusOf(notification(), tallies, after(29_000))).toBe('stopping');
  expect(statusOf(notification(), tallies, after(29_001))).toBe('stopped');
});

test.each([
  ['with a dead function', false, tally(), 27_000],
  ['that nobody has claimed', true, undefined, 75 * minute + 1000],
])('an interrupted share %s keeps its status when it is stopped later', (_, async, open, ms) => {
  const stoppedAfter = (stopMs: number) => {
    const unclaimedTally = { ...tally(), claim: undefined, position: 0 };
    const late = { ...(open ?? unclaimedTally), stoppedAt: after(stopMs).getTime() };
    return statusOf(notification(async), [tally('complete'), late], after(ms + 5000));
  };
  expect(stoppedAfter(ms)).toBe('stopped');
  expect(stoppedAfter(ms + 1)).toBe('interrupted');
});
