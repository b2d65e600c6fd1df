import { ticksUpTo } from '../../../console/page/charts.tsx';
import { growthOf, lastBroadcasts, monthOf, noticeOf } from '../../../console/page/summary.ts';
import type { NotificationResult } from '../../../contract/wire/notification.ts';
import type { ProjectResult } from '../../../contract/wire/project-result.ts';

const nowMs = Date.parse('2026-11-24T12:00:00Z');
const dayMs = 24 * 60 * 60 * 1000;

function sent(daysAgo: number, changes: Partial<NotificationResult> = {}): NotificationResult {
  return {
    id: `${daysAgo}`,
    title: 'T',
    audience: 'everyone',
    status: 'sent',
    attempted: 100,
    delivered: 90,
    removed: 10,
    failed: 0,
    shown: 50,
    clicked: 5,
    sentAt: new Date(nowMs - daysAgo * dayMs).toISOString(),
    ...changes,
  };
}
const idsOf = (notifications: readonly NotificationResult[]) => notifications.map(({ id }) => id);

test('the last broadcasts have ended, and had somebody to reach', () => {
  const notifications = [
    sent(1, { status: 'sending' }),
    sent(2, { status: 'stopped', unreached: 4 }),
    sent(3, { attempted: 0 }),
    sent(4, { audience: { users: 4 } }),
    sent(5),
    sent(6),
  ];
  expect(idsOf(lastBroadcasts({ notifications }, 2))).toEqual(['5', '2']);
});

test.each([
  [110, 20],
  [90, 0],
  [1, -89],
])('with %i subscribers, the growth is %i', (subscribers, growth) => {
  const notifications = [
    sent(1, { attempted: 500 }),
    // These do not tell how many there were.
    sent(7, { audience: { channels: ['news'] } }),
    sent(7, { status: 'stopped' }),
    sent(7, { unreached: 3 }),
    sent(8),
    sent(20, { attempted: 50 }),
  ];
  expect(growthOf({ notifications }, subscribers, nowMs)).toEqual({ growth, since: 'Nov 16' });
});

test('the growth is that of 30 days, if a broadcast is that old', () => {
  const notifications = [sent(8), sent(31, { attempted: 60 }), sent(40)];
  expect(growthOf({ notifications }, 100, nowMs)).toMatchObject({ growth: 50, since: 'Oct 24' });
});

test('without a broadcast that is old enough, there is no growth', () => {
  expect(growthOf({ notifications: [sent(6)] }, 100, nowMs)).toBeUndefined();
});

test('the counts of 30 days are added, not those before, and not those that still change', () => {
  const notifications = [
    sent(0, { test: true }),
    // What has not ended has no rate.
    sent(0, { status: 'sending' }),
    sent(0, { status: 'stopping' }),
    sent(0, { unreached: 7 }),
    sent(28, { events: false, shown: null, clicked: null }),
    sent(29),
    sent(31),
  ];
  expect(monthOf({ notifications }, nowMs)).toEqual({
    pushes: 307,
    delivered: 270,
    removed: 30,
    measured: 180,
    shown: 100,
    clicked: 10,
    period: 'last 30 days',
  });
});

test('a list that ends within 30 days says since when', () => {
  const list = { notifications: [sent(0), sent(3)], nextCursor: 'x' };
  expect(monthOf(list, nowMs).period).toBe('since Nov 21');
  expect(monthOf({ ...list, notifications: [sent(0), sent(31)] }, nowMs).period).toBe(
    'last 30 days',
  );
});

describe('the notice', () => {
  const project = {
    subscribers: 10,
    subscriberCap: 100,
    sentThisMonth: 1,
    monthlySendCap: 100,
    month: '2026-11',
  } as ProjectResult;
  const failed = sent(1, { title: 'Kick-off', delivered: 50, removed: 0, failed: 50 });
  const noticeFor = (changes: Partial<ProjectResult>, notifications = [failed]) =>
    noticeOf({ ...project, ...changes }, { notifications }, nowMs);

  test('names a limit that is reached before all else', () => {
    expect(noticeFor({ subscribers: 100, sentThisMonth: 100 })).toEqual({
      title: 'The limit of 100 subscribers is reached.',
      text: 'Carillon refuses new ones until the operator raises it.',
      tone: 'bad',
    });
    expect(noticeFor({ subscribers: 90, sentThisMonth: 100 })).toMatchObject({
      title: 'The limit of 100 notifications in a month is reached.',
      text: expect.stringContaining('until December 1 (UTC)'),
    });
  });

  test.each<[Partial<NotificationResult>, string, string, string]>([
    [{}, '“Kick-off” did not reach everyone.', '50 of 100 did not get it.', 'bad'],
    [{ failed: 6, delivered: 94 }, '“Kick-off” did not reach everyone.', '6 of 100', 'warning'],
    [{ delivered: 0, failed: 100 }, '“Kick-off” reached nobody.', '100 of 100', 'bad'],
    [{ status: 'interrupted', unreached: 20 }, '“Kick-off” was interrupted.', '70 of 120', 'bad'],
  ])('is about the latest notification if part was lost: %j', (changes, title, text, tone) => {
    const notice = noticeFor({ subscribers: 90 }, [{ ...failed, ...changes }, sent(2)]);
    expect(notice).toMatchObject({ title, text: expect.stringContaining(text), tone });
    expect(notice!.notificationId).toBe(failed.id);
  });

  test('is not about a test', () => {
    expect(noticeFor({}, [{ ...failed, test: true }])).toBeUndefined();
    expect(noticeFor({}, [sent(0, { test: true }), failed])?.notificationId).toBe(failed.id);
  });

  test('is about the latest notification if push services called part of its audience gone', () => {
    const latest = sent(0, { title: 'Kick-off', removed: 5 });
    expect(noticeFor({ subscribers: 90 }, [latest, failed])).toEqual({
      title: 'Of 100 subscribers of “Kick-off”, 5 were gone.',
      text: 'Push services said so, and they were removed.',
      ...{ tone: 'warning', notificationId: latest.id },
    });
  });

  test('passes over what is being sent, and ends with the next notification and with a week', () => {
    expect(noticeFor({}, [sent(0, { status: 'sending' }), failed])?.notificationId).toBe(failed.id);
    expect(noticeFor({}, [sent(0, { removed: 4 }), failed])).toBeUndefined();
    expect(noticeFor({}, [{ ...failed, sentAt: sent(8).sentAt }])).toBeUndefined();
  });

  test('is about a limit from 80 % on, and nothing below it or without a limit', () => {
    expect(noticeFor({ subscribers: 89 }, [])).toMatchObject({
      title: 'The limit of 100 subscribers is near: 89 % are used.',
      tone: 'warning',
    });
    expect(noticeFor({ subscribers: 79 }, [])).toBeUndefined();
    expect(noticeFor({ subscribers: 1e9, subscriberCap: null }, [])).toBeUndefined();
  });
});

test.each([
  [0, [0, 1]],
  [1, [0, 1]],
  [3, [0, 1, 2, 3]],
  [7, [0, 3, 6, 9]],
  [285, [0, 100, 200, 300]],
  [1000, [0, 500, 1000]],
  [1001, [0, 500, 1000, 1500]],
  [12_480, [0, 5000, 10_000, 15_000]],
  [99_999, [0, 50_000, 100_000]],
])('the axis of a chart up to %i has the values %j', (most, ticks) => {
  expect(ticksUpTo(most)).toEqual(ticks);
});
