import { noCounts } from '../../../contract/counts.ts';
import {
  expectedSubscribers,
  interruptedCounts,
  storedResult,
  totalOf,
} from '../../../lambdas/results/results.ts';
import type { Division } from '../../../lambdas/store/items.ts';
import type { Tally } from '../../../lambdas/store/tallies.ts';

const complete = { ...noCounts, isComplete: true };
const incomplete = { ...noCounts, isComplete: false };

const tally: Tally = {
  claim: { by: 'a', step: 1, until: 1000 },
  position: 10,
  pending: 2,
  counts: {
    ...{ attempted: 5, delivered: 3, removed: 1, failed: 1 },
    ...{ failures: { refused: 1 }, unreached: 4 },
  },
  shown: 0,
  clicked: 0,
};

test('pending pushes of an interrupted share count as attempted and failed', () => {
  expect(interruptedCounts(tally)).toEqual({
    ...{ attempted: 7, delivered: 3, removed: 1, failed: 3 },
    ...{ failures: { refused: 1, interrupted: 2 }, unreached: 4 },
  });
  expect(interruptedCounts({ ...tally, pending: 0 })).toEqual(tally.counts);
});

test.each([
  ['complete', true],
  ['incomplete', false],
  [undefined, false],
] as const)('a stored share that has ended as %p is complete: %p', (ended, isComplete) => {
  expect(storedResult({ ...tally, ended }).isComplete).toBe(isComplete);
});

test('a share whose function has died is complete if all its recipients were read', () => {
  expect(storedResult({ ...tally, isRead: true })).toMatchObject({
    failures: { interrupted: 2 },
    isComplete: true,
  });
  expect(storedResult({ ...tally, isRead: true, ended: 'cancelled' }).isComplete).toBe(false);
});

test('the result of a share that was stopped says so, also if it had read everyone', () => {
  expect(storedResult({ ...tally, ended: 'complete', stoppedAt: 900 })).toMatchObject({
    isComplete: true,
    isStopped: true,
  });
  expect(storedResult(tally).isStopped).toBeUndefined();
});

test('a share without a tally has no counts and is incomplete', () => {
  expect(storedResult(undefined)).toEqual(incomplete);
});

test.each<[string, Partial<Division>, number | undefined]>([
  ['everyone', { subscribers: 10 }, 10],
  ['some user ids', { users: 3 }, undefined],
  ['everyone with a channel', { subscribers: 10, channels: ['news'] }, undefined],
  ['everyone seen lately', { subscribers: 10, seenWithinDays: 7 }, undefined],
])(
  'of a notification to %s, the expected subscribers are known if nobody is left out',
  (_, division, expected) => {
    const divided = { shares: 1, talliesPerShare: 1, respondedAsync: false };
    expect(expectedSubscribers({ ...divided, ...division })).toBe(expected);
  },
);

test('a total adds the counts and the failures of all shares', () => {
  const one = { ...complete, attempted: 3, delivered: 2, failed: 1, failures: { refused: 1 } };
  const other = { ...complete, attempted: 4, removed: 1, failed: 3 };
  const failures = { refused: 2, throttled: 1 };
  expect(totalOf([one, { ...other, failures }], 100)).toEqual({
    ...{ attempted: 7, delivered: 2, removed: 1, failed: 4 },
    ...{ failures: { refused: 3, throttled: 1 }, unreached: 0 },
  });
});

test.each([
  ['of complete shares are those that were not attempted in time', [complete], 100, 0],
  [
    'of an incomplete share are all subscribers not attempted',
    [{ ...incomplete, attempted: 30 }],
    100,
    70,
  ],
  [
    'of one incomplete share among complete ones too',
    [
      { ...complete, attempted: 20 },
      { ...incomplete, attempted: 30 },
    ],
    100,
    50,
  ],
  ['are never fewer than those that were read', [{ ...incomplete, unreached: 80 }], 50, 80],
  ['are at least one if the audience has grown', [{ ...incomplete, attempted: 30 }], 20, 1],
  ['of user ids are at least one', [{ ...incomplete, attempted: 30 }], undefined, 1],
])('the unreached %s', (_, results, subscribers, unreached) => {
  expect(totalOf(results, subscribers).unreached).toBe(unreached);
});
