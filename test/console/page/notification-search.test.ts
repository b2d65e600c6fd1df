import { idIn, matching, searchText } from '../../../console/page/views/notification-search.ts';
import type { NotificationResult } from '../../../contract/schemas/notification.ts';

const id = '01936f0e-8a51-7c3e-9d53-0f5d9a3c7f10';
const base = { sentAt: '2026-11-03T12:00:00.000Z' } as NotificationResult;
const goal: NotificationResult = { ...base, id, title: 'Goal', body: 'It is 2:0 now' };
const sale: NotificationResult = { ...base, id: id.replace('0193', '0194'), title: 'Summer SALE' };

test.each([
  ['', [goal, sale]],
  ['  ', [goal, sale]],
  [' goal ', [goal]],
  ['2:0', [goal]],
  ['sale', [sale]],
  ['0194', [sale]],
  [id.toUpperCase(), [goal]],
  ['nothing', []],
])('a search for %j finds titles, texts and ids', (text, found) => {
  expect(matching([goal, sale], text)).toEqual(found);
});

test('only a whole id may be that of a notification which is not loaded', () => {
  expect(idIn(` ${id.toUpperCase()} `)).toBe(id);
  expect(idIn(id.slice(1))).toBeUndefined();
});

test('the result says how many were searched, since when, and whether there are older ones', () => {
  const notifications = [goal, sale];
  expect(searchText(1, { notifications, nextCursor: 'x' })).toBe(
    '1 found in 2 notifications since Nov 3, 2026. Older ones were not searched.',
  );
  expect(searchText(0, { notifications })).toBe('0 found in 2 notifications: all that are stored.');
  expect(searchText(0, { notifications: [] })).toBe('');
});
