import { isDue } from '../../sdk/common/storage.ts';

const now = Date.UTC(2026, 10, 20);
const hourMs = 60 * 60 * 1000;

const wanted = {
  baseUrl: 'https://push.example',
  projectId: 'demo',
  applicationServerKey: 'key',
  endpoint: 'https://fcm.googleapis.com/a',
  userId: 'ada',
  channels: ['news', 'sales'],
};
const { userId, channels, ...address } = wanted;
// As the browser's storage returns it: not the same array.
const choice = { userId, channels: [...channels] };
const stored = { ...address, choice, registeredAt: now - hourMs };

test('a registration that is an hour old and unchanged is not due', () => {
  expect(isDue(stored, wanted, now)).toBe(false);
});

test('a registration is due after more than a day', () => {
  expect(isDue({ ...stored, registeredAt: now - 24 * hourMs }, wanted, now)).toBe(false);
  expect(isDue({ ...stored, registeredAt: now - 24 * hourMs - 1 }, wanted, now)).toBe(true);
});

test.each([
  ['a second later than now', now + 1000],
  ['years later', now + 5 * 365 * 24 * hourMs],
  ['not a number', Number.NaN],
  ['missing', undefined as never],
])('a registration whose time is %s is due', (_, registeredAt) => {
  expect(isDue({ ...stored, registeredAt }, wanted, now)).toBe(true);
});

test('a browser that was never registered is due', () => {
  expect(isDue(undefined, wanted, now)).toBe(true);
});

test.each(Object.keys(wanted))('a registration with a different %s is due', (name) => {
  expect(isDue(stored, { ...wanted, [name]: 'another' }, now)).toBe(true);
});

test('a registration is due after log-out', () => {
  expect(isDue(stored, { ...wanted, userId: undefined }, now)).toBe(true);
});

test.each([
  [['news'], ['sales']],
  [['news'], []],
  [['news', 'sales'], ['news']],
  [undefined, ['news']],
  [undefined, []],
])('a registration with the channels %j is due for %j', (channels, other) => {
  const before = { ...stored, choice: channels === undefined ? { userId } : { userId, channels } };
  expect(isDue(before, { channels: other }, now)).toBe(true);
  expect(isDue(before, { channels }, now)).toBe(false);
});
