import { isDue } from '../../sdk/common/known-registration.ts';

const now = Date.UTC(2026, 10, 20);
const hour = 60 * 60 * 1000;

const wanted = {
  baseUrl: 'https://push.example',
  projectId: 'demo',
  applicationServerKey: 'key',
  userId: 'ada',
  endpoint: 'https://fcm.googleapis.com/a',
};
const known = { ...wanted, registeredAt: now - hour };

test('what the service was told an hour ago need not be told again', () => {
  expect(isDue(known, wanted, now)).toBe(false);
});

test('after more than a day, it is told again', () => {
  expect(isDue({ ...known, registeredAt: now - 24 * hour }, wanted, now)).toBe(false);
  expect(isDue({ ...known, registeredAt: now - 24 * hour - 1 }, wanted, now)).toBe(true);
});

test('a browser that has told nothing yet is due', () => {
  expect(isDue(undefined, wanted, now)).toBe(true);
});

test.each(Object.keys(wanted))('another %s is told at once', (name) => {
  expect(isDue(known, { ...wanted, [name]: 'another' }, now)).toBe(true);
});

test('a user who has logged out is told at once', () => {
  expect(isDue(known, { ...wanted, userId: undefined }, now)).toBe(true);
});
