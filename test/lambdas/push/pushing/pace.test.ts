import { Pace } from '../../../../lambdas/push/pushing/push-service.ts';
import { fcm, mozilla, pushVirtually, recipientsAt } from '../../../fixtures/virtual-pushing.ts';

function perSecond(times: readonly number[]): number {
  const counts = times.map((from) => times.filter((at) => at >= from && at < from + 1000).length);
  return Math.max(...counts);
}

test('starts at most the given number of pushes per second, over all push services', async () => {
  const recipients = [...recipientsAt(fcm, 1500), ...recipientsAt(mozilla, 1500)];
  const { done, pushes } = pushVirtually({ recipients, pushesPerSecond: 1000 });
  expect(await done).toMatchObject({ delivered: 3000 });
  const times = pushes.map(({ at }) => at);
  expect(perSecond(times)).toBeLessThanOrEqual(1050);
  expect(times.at(-1)).toBeGreaterThan(2900);
  expect(times.at(-1)).toBeLessThan(3100);
});

test('retries count', async () => {
  let attempts = 0;
  const { done, pushes } = pushVirtually(
    { recipients: recipientsAt(fcm, 300), pushesPerSecond: 100 },
    () => ({ status: ++attempts <= 300 ? 503 : 201 }),
  );
  expect(await done).toMatchObject({ delivered: 300 });
  expect(perSecond(pushes.map(({ at }) => at))).toBeLessThanOrEqual(105);
});

test('waits with one timer', async () => {
  const { done, time } = pushVirtually({
    recipients: recipientsAt(fcm, 100),
    pushesPerSecond: 10,
  });
  let most = 0;
  for (let at = 0; at < 9000; at += 10) {
    time.at(at, () => {
      most = Math.max(most, time.sleeping);
    });
  }
  await done;
  // The other one is that of the end.
  expect(most).toBe(2);
});

test('a slow pace does not outlast the last push', async () => {
  const { done, time } = pushVirtually({
    recipients: recipientsAt(fcm, 3),
    pushesPerSecond: 0.01,
  });
  expect(await done).toMatchObject({ delivered: 1, unreached: 2 });
  expect(time.now).toBe(20_000);
});

test('makes up for 50 ms, and no more', () => {
  const pace = new Pace(1000, 0);
  let starts = 0;
  while (pace.start(5000) === 0) starts += 1;
  expect(starts).toBe(51);
});

test('an infinite rate never waits', () => {
  const pace = new Pace(Number.POSITIVE_INFINITY, 0);
  for (let start = 0; start < 1000; start += 1) expect(pace.start(0)).toBe(0);
});
