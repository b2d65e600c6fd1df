import {
  audienceHistoryText,
  broadcastsIn,
  deliveryRateText,
  rateHistoryText,
  rateOf,
  scopeText,
} from '../../../console/page/history/broadcasts.ts';
import { limits } from '../../../contract/limits.ts';
import type { NotificationResult } from '../../../contract/schemas/notification.ts';

function notification(changes: Partial<NotificationResult> = {}): NotificationResult {
  return {
    id: '01936f0e-8a51-7c3e-9d53-0f5d9a3c7f10',
    title: 'News',
    audience: 'everyone',
    status: 'sent',
    sentAt: '2026-11-03T12:00:00.000Z',
    attempted: 10,
    delivered: 10,
    removed: 0,
    failed: 0,
    shown: 0,
    clicked: 0,
    ...changes,
  };
}

test('the history has the complete broadcasts without a condition, the oldest first', () => {
  const notifications = [
    notification({ title: 'Second' }),
    notification({ audience: { users: 2 } }),
    notification({ audience: { seenWithinDays: 7 } }),
    notification({ status: 'sending' }),
    notification({ status: 'stopped' }),
    notification({ status: 'interrupted' }),
    notification({ unreached: 5 }),
    notification({ title: 'First' }),
  ];
  const titles = broadcastsIn({ notifications }).map(({ title }) => title);
  expect(titles).toEqual(['First', 'Second']);
});

test('the audience is told for the first and the latest broadcast', () => {
  const [latest, first] = [notification({ attempted: 480 }), notification({ attempted: 1500 })];
  expect(audienceHistoryText([first, latest])).toBe(
    '480 subscribers at the latest broadcast, 1,500 at the first one.',
  );
  expect(audienceHistoryText([latest])).toBe('480 subscribers at the latest broadcast.');
});

test('the delivery rate is that of all pushes, and broadcasts that reached nobody are counted', () => {
  const latest = notification({ attempted: 30, delivered: 0, failed: 30 });
  const first = notification({ attempted: 70, delivered: 70 });
  const toNobody = notification({ attempted: 0, delivered: 0 });
  expect(rateHistoryText([toNobody, first, latest])).toBe(
    '0 % at the latest broadcast, 70 % over all of them. 1 reached nobody.',
  );
  expect(rateHistoryText([toNobody])).toBe('Nobody was subscribed.');
});

test('without a subscriber there is no rate', () => {
  const toNobody = notification({ attempted: 0, delivered: 0 });
  expect(rateOf(toNobody)).toBe(0);
  expect(deliveryRateText(toNobody)).toBe('–');
  expect(deliveryRateText(notification({ attempted: 4, delivered: 1 }))).toBe('25 %');
});

test('the caption says how far back the history goes', () => {
  const notifications = [notification(), notification()];
  expect(scopeText(2, { notifications })).toBe(
    `2 complete broadcasts among all notifications of the last ${limits.notificationRetentionDays} days.`,
  );
  expect(scopeText(1, { notifications, nextCursor: 'x' })).toMatch(
    /^1 complete broadcast among the latest 2 notifications, since Nov 3, 2026/,
  );
});
