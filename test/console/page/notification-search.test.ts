import { joined } from '../../../console/page/calls.ts';
import {
  filtersIn,
  matches,
  queryOf,
  searchText,
} from '../../../console/page/notifications-view.tsx';
import type { NotificationResult } from '../../../contract/wire/notification.ts';

const id = '01936f0e-8a51-7c3e-9d53-0f5d9a3c7f10';
const sent: NotificationResult = {
  id,
  title: 'Goal',
  body: 'It is 2:0 now',
  audience: 'everyone',
  status: 'sent',
  attempted: 9,
  delivered: 9,
  removed: 0,
  failed: 0,
  shown: 0,
  clicked: 0,
  sentAt: '2026-11-03T12:00:00.000Z',
};
const others = { search: '', stage: 'all', audience: 'any', sender: '' } as const;

test.each([
  ['', true],
  ['  ', true],
  [' goal ', true],
  ['2:0', true],
  ['0193', true],
  [id.toUpperCase(), true],
  ['nov 3', true],
  ['nothing', false],
])('a search for %j looks at title, text, date and id', (search, isFound) => {
  expect(matches(sent, { ...others, search })).toBe(isFound);
});

test.each<[changes: Partial<NotificationResult>, found: readonly string[]]>([
  [{}, ['all']],
  [{ failed: 1, attempted: 10 }, ['all', 'attention']],
  [{ status: 'interrupted' }, ['all', 'attention']],
  [{ status: 'stopped' }, ['all']],
  [{ status: 'stopping' }, ['all', 'progress']],
  [{ status: 'sending', failed: 9 }, ['all', 'progress']],
])('%j is found under %j', (changes, found) => {
  const stages = (['all', 'attention', 'progress'] as const).filter((stage) =>
    matches({ ...sent, ...changes }, { ...others, stage }),
  );
  expect(stages).toEqual(found);
});

test.each([
  ['everyone', 'all'],
  [{ channels: ['news'] }, 'some'],
  [{ users: 2, channels: ['news'] }, 'users'],
] as const)('the audience %j is of the kind %s', (audience, kind) => {
  const one = { ...sent, audience } as NotificationResult;
  const kinds = (['any', 'all', 'some', 'users', 'tests'] as const).filter((wanted) =>
    matches(one, { ...others, audience: wanted }),
  );
  expect(kinds).toEqual(['any', kind]);
});

test('a test is found among tests, and needs no attention', () => {
  const one = { ...sent, audience: { users: 1 }, status: 'interrupted', test: true } as const;
  expect(matches(one, { ...others, audience: 'tests' })).toBe(true);
  expect(matches(one, { ...others, audience: 'users' })).toBe(false);
  expect(matches(one, { ...others, stage: 'attention' })).toBe(false);
});

test('a sender finds the own notifications, not those of the secret key', () => {
  const filters = { ...others, sender: 'Ada' };
  expect(matches({ ...sent, sentBy: 'Ada' }, filters)).toBe(true);
  expect(matches({ ...sent, sentBy: 'Adam' }, filters)).toBe(false);
  expect(matches(sent, filters)).toBe(false);
});

test.each(['', 'search=a%26b&stage=progress', 'audience=users&sender=Ada+L'])(
  'the filters %j are read from the address, and written to it',
  (query) => {
    expect(queryOf(filtersIn(query))).toBe(query);
  },
);

test('what the address has besides filters is left out', () => {
  expect(filtersIn('stage=constructor&audience=nobody&more=1')).toEqual(filtersIn(''));
  expect(filtersIn(undefined)).toEqual(others);
});

const list = (ids: readonly string[], nextCursor?: string) => ({
  notifications: ids.map((one) => ({ ...sent, id: one })),
  ...(nextCursor && { nextCursor }),
});

test.each([
  ['are added', list(['9', '8', '7'], 'a'), list(['7', '6', '5'], 'b'), '98765', 'b'],
  ['are added once', list(['9', '8', '7'], 'a'), list(['8', '7', '6'], 'b'), '9876', 'b'],
  ['end the list', list(['9', '8'], 'a'), list(['8', '7']), '987', undefined],
  ['are left out after a gap', list(['9', '8'], 'a'), list(['6', '5'], 'b'), '98', 'a'],
])('older notifications %s', (_, newest, older, ids, nextCursor) => {
  const all = joined(newest, older);
  expect(all.notifications.map(({ id: one }) => one).join('')).toBe(ids);
  expect(all.nextCursor).toBe(nextCursor);
});

test('the result says how many were searched, and since when', () => {
  const notifications = [{ ...sent, sentAt: '2025-12-03T12:00:00.000Z' }];
  expect(searchText(0, { notifications })).toBe('No match in 1 notification since Dec 3, 2025');
  expect(searchText(1, { notifications })).toBe('1 match in 1 notification since Dec 3, 2025');
  expect(searchText(2, { notifications })).toMatch(/^2 matches in /);
  expect(searchText(0, { notifications: [] })).toBe('');
});
