import {
  audienceAfter,
  broadcastsIn,
  growthText,
  monthOf,
} from '../../../console/page/overview/broadcasts.ts';
import { roundUp } from '../../../console/page/overview/time-chart.tsx';
import type { NotificationResult } from '../../../contract/schemas/notification.ts';

const nowMs = Date.parse('2026-11-24T12:00:00Z');
const dayMs = 24 * 60 * 60 * 1000;

function sent(daysAgo: number, changes: Partial<NotificationResult> = {}): NotificationResult {
  return {
    ...{ id: `${daysAgo}`, title: 'T', audience: 'everyone', status: 'sent' },
    ...{ attempted: 100, delivered: 90, removed: 10, failed: 0, shown: 50, clicked: 5 },
    sentAt: new Date(nowMs - daysAgo * dayMs).toISOString(),
    ...changes,
  };
}

test('complete broadcasts to everyone tell the audience, the oldest first', () => {
  const notifications = [
    sent(1),
    sent(2, { audience: { channels: ['news'] } }),
    sent(3, { status: 'stopped' }),
    sent(4, { unreached: 3 }),
    sent(5),
  ];
  expect(broadcastsIn({ notifications }).map(({ id }) => id)).toEqual(['5', '1']);
  expect(audienceAfter(sent(1))).toBe(90);
});

test.each([
  [110, '+20 in 7 days'],
  [90, '±0 in 7 days'],
  [1, '−89 in 7 days'],
])('with %i subscribers, the growth is %s', (subscribers, text) => {
  const broadcasts = [sent(20, { attempted: 50 }), sent(8), sent(1, { attempted: 500 })];
  expect(growthText(broadcasts, subscribers, 7, nowMs)).toBe(text);
});

test('without a broadcast that is old enough, there is no growth', () => {
  expect(growthText([sent(6)], 100, 7, nowMs)).toBeUndefined();
});

test('the counts of 30 days are added, not those before', () => {
  expect(monthOf({ notifications: [sent(0), sent(29), sent(31)] }, nowMs)).toEqual({
    attempted: 200,
    delivered: 180,
    shown: 100,
    clicked: 10,
  });
});

test.each([
  [0, 1],
  [1, 1],
  [3, 5],
  [285, 500],
  [1000, 1000],
  [1001, 2000],
])('the scale of a chart with %i ends at %i', (value, round) => {
  expect(roundUp(value)).toBe(round);
});
