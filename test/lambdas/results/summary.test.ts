import { noCounts } from '../../../contract/wire/counts.ts';
import {
  countReached,
  finalCounts,
  interruptedCounts,
  isReached,
  ReachedUsers,
  summaryOf,
} from '../../../lambdas/results/summary.ts';
import type { Division } from '../../../lambdas/store/items.ts';
import type { StoredSlice } from '../../../lambdas/store/slices.ts';
import { delivered, sentAt, storedSlice } from '../../fixtures/stored-slice.ts';

const msAfter = (ms: number) => new Date(sentAt.getTime() + ms);
const division: Division = {
  ...{ subscribers: 100, conditions: {}, slices: 2, countersPerSlice: 3, respondedAsync: false },
};
const notification = (change: Partial<Division> = {}) => ({
  ...{ division: { ...division, ...change }, sentAt },
});

const whole = storedSlice({ isRead: true, ended: 'delivered' });
const part = storedSlice({ ended: 'delivered' });
const open = storedSlice();

type Slices = readonly (StoredSlice | undefined)[];
const statusOf = (slices: Slices, ms: number, respondedAsync = false) =>
  summaryOf(notification({ respondedAsync }), slices, msAfter(ms)).status;

describe('counts', () => {
  const interrupted: StoredSlice = {
    ...storedSlice({}),
    claimed: 11,
    counts: {
      ...{ attempted: 5, delivered: 3, removed: 1, failed: 1 },
      ...{ failures: { refused: 1 }, removals: { fcm: 1 }, unreached: 4 },
    },
  };

  test('pending pushes of an interrupted slice count as attempted and failed', () => {
    expect(interruptedCounts(interrupted)).toEqual({
      ...{ attempted: 7, delivered: 3, removed: 1, failed: 3 },
      ...{ failures: { refused: 1, interrupted: 2 }, removals: { fcm: 1 }, unreached: 4 },
    });
    expect(interruptedCounts({ ...interrupted, claimed: 9 })).toEqual(interrupted.counts);
  });

  test('the counts and the failures of all slices are added up', () => {
    const failed = { ...noCounts, attempted: 4, removed: 1, failed: 3 };
    const failures = { refused: 2, throttled: 1 };
    const one = { ...whole, claimed: 9, counts: interrupted.counts };
    const other = { ...whole, claimed: 4, counts: { ...failed, failures } };
    expect(finalCounts(notification(), [one, other])).toEqual({
      ...{ attempted: 9, delivered: 3, removed: 2, failed: 4 },
      ...{ failures: { refused: 3, throttled: 1 }, removals: { fcm: 1 }, unreached: 4 },
    });
  });

  const unreached = (count: number) => ({
    claimed: count,
    counts: { ...noCounts, unreached: count },
  });
  const all = (count: number) => ({ claimed: count, counts: delivered(count) });

  test.each<[string, Slices, Partial<Division>, number]>([
    ['who were read', [{ ...whole, ...unreached(3) }, whole], {}, 3],
    ['all who were not attempted', [whole, { ...part, ...all(30) }], {}, 70],
    ['who were to be in a slice that nobody has had', [whole, undefined], {}, 100],
    ['who were to be in a cancelled slice', [whole, { ...whole, ended: 'cancelled' }], {}, 100],
    ['never fewer than those who were read', [{ ...part, ...unreached(180) }], {}, 180],
    ['one at least if the audience has grown', [{ ...part, ...all(130) }], {}, 1],
    ['one at least of users', [part], { users: 3, subscribers: undefined }, 1],
    ['one at least with a condition', [part], { conditions: { channels: ['news'] } }, 1],
    ['nobody with a condition if all was read', [whole], { conditions: { seenWithinDays: 7 } }, 0],
  ])('unreached are %s', (_, slices, change, expected) => {
    expect(finalCounts(notification(change), slices).unreached).toBe(expected);
  });

  test('while functions work on it, nobody is unreached or interrupted yet', () => {
    const working = { ...interrupted, counts: { ...interrupted.counts, unreached: 1 } };
    expect(summaryOf(notification(), [working, undefined], msAfter(0)).counts).toEqual({
      ...{ attempted: 5, delivered: 3, removed: 1, failed: 1, failures: { refused: 1 } },
      ...{ removals: { fcm: 1 }, unreached: 0 },
    });
  });
});

describe('the status', () => {
  test('is sent when all slices have ended, also early', () => {
    expect(statusOf([whole, part], 0)).toBe('sent');
  });

  const minute = 60_000;

  test.each<[string, boolean, StoredSlice | undefined, number]>([
    // Its request may still end it.
    ['is leased', false, open, 30_000],
    ['is leased by a repetition', false, storedSlice({}, 60_000), 61_000],
    ['nobody has leased', false, undefined, 30_000],
    // Lambda drops an event that is an hour old. Its last attempt may then run for 15 minutes.
    ['is leased, asynchronously', true, open, 75 * minute + 1000],
    // A repetition of the request may start it up to a day later.
    ['is leased late', true, storedSlice({}, 90 * minute), 90 * minute + 1000],
    ['waits in the queue', true, undefined, 75 * minute + 1000],
  ])('is sending until nobody can work on a slice that %s', (_, respondedAsync, slice, ms) => {
    expect(statusOf([whole, slice], ms, respondedAsync)).toBe('sending');
    expect(statusOf([whole, slice], ms + 1, respondedAsync)).toBe('interrupted');
  });

  const stopped = (slice: StoredSlice): StoredSlice => ({
    ...slice,
    stoppedAt: sentAt.getTime() + 1000,
  });
  const unleased = { ...stopped(open), lease: undefined };

  test.each<[string, Slices]>([
    ['whose slices have ended', [stopped(whole), stopped(part)]],
    ['of which one slice had ended before', [whole, stopped(whole)]],
    ['with a slice that nobody has leased', [stopped(whole), unleased]],
  ])('of a stopped notification %s is stopped at once', (_, slices) => {
    for (const respondedAsync of [false, true]) {
      expect(statusOf(slices, 1000, respondedAsync)).toBe('stopped');
    }
  });

  test.each([false, true])(
    'is stopping until the leases have run out by every clock',
    (respondedAsync) => {
      const status = (ms: number) => statusOf([stopped(open), unleased], ms, respondedAsync);
      expect(status(28_000)).toBe('stopping');
      expect(status(28_001)).toBe('stopped');
    },
  );

  test('is stopping while a slice that was not stopped may be worked on', () => {
    expect(statusOf([stopped(whole), undefined], 30_000)).toBe('stopping');
    expect(statusOf([stopped(whole), undefined], 30_001)).toBe('stopped');
  });

  test.each<[string, boolean, StoredSlice, number]>([
    ['with a dead function', false, open, 30_000],
    ['that nobody has leased', true, { ...open, lease: undefined }, 75 * minute + 1000],
  ])(
    'of a slice %s that was interrupted before the stop stays interrupted',
    (_, async, slice, ms) => {
      const stoppedAfter = (stopMs: number) =>
        statusOf([whole, { ...slice, stoppedAt: msAfter(stopMs).getTime() }], ms + 5000, async);
      expect(stoppedAfter(ms)).toBe('stopped');
      expect(stoppedAfter(ms + 1)).toBe('interrupted');
    },
  );
});

describe('the users who were reached', () => {
  test('have a bit each, also above a byte', () => {
    for (const user of [0, 7, 8, 999]) {
      const reached = new ReachedUsers(1000);
      reached.add(user);
      reached.add(user);
      const bits = reached.bits();
      expect(bits).toHaveLength(125);
      const all = Array.from({ length: 1000 }, (_, index) => index);
      expect(all.filter((index) => isReached(bits, index))).toEqual([user]);
      expect(countReached(bits)).toBe(1);
    }
  });

  test('include those of an earlier invocation, and a copy does not change', () => {
    const earlier = new ReachedUsers(10);
    earlier.add(1);
    const before = earlier.bits();
    const later = new ReachedUsers(10, before);
    later.add(9);
    expect([...before]).toEqual([2, 0]);
    expect([...later.bits()]).toEqual([2, 2]);
  });

  test('are unknown without bits', () => {
    expect(isReached(undefined, 0)).toBe(false);
    expect(countReached(undefined)).toBe(0);
  });
});
