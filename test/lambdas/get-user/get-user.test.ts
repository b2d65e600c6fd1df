import { describeUser } from '../../../lambdas/get-user/get-user.ts';
import { deviceIdOf } from '../../../lambdas/store/items.ts';

function stored(origin: string, createdAt: number, updatedAt = createdAt) {
  return { origin, path: `/${createdAt}`, createdAt, updatedAt };
}

test('the devices are returned newest first, with the number of all', () => {
  const newest = Array.from({ length: 100 }, (_, index) =>
    // In no order, as the table has them. The oldest was seen last.
    stored('https://web.push.apple.com', ((index * 37) % 100) + 1, 1000 - index),
  );
  const { subscriptions, devices } = describeUser({ userId: 'ada', count: 102, newest });
  expect(subscriptions).toBe(102);
  const times = devices.map(({ createdAt }) => Date.parse(createdAt));
  expect(times).toEqual(Array.from({ length: 100 }, (_, index) => 100 - index));
});

test.each([
  ['https://fcm.googleapis.com', 'fcm'],
  ['https://db5p.notify.windows.com', 'other'],
  ['https://push.example', 'https://push.example'],
])('a device at %s has the push service %s', (origin, pushService) => {
  const one = stored(origin, 1000, 2000);
  expect(describeUser({ userId: 'ada', count: 1, newest: [one] }).devices).toEqual([
    {
      id: deviceIdOf(`${origin}/1000`),
      pushService,
      createdAt: '1970-01-01T00:00:01.000Z',
      updatedAt: '1970-01-01T00:00:02.000Z',
    },
  ]);
});
