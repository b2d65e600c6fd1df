import { noCounts } from '../../../../contract/wire/counts.ts';
import { fcm, goneAt, pushVirtually, recipientsAt } from '../../../fixtures/virtual-pushing.ts';

const never = new Promise<never>(() => {});

test('after the last push none starts, and those left out are unreached', async () => {
  const recipients = recipientsAt(fcm, 900);
  const { done, pushes } = pushVirtually({ recipients }, () => ({ status: 201, after: 5000 }));
  const { delivered, unreached } = await done;
  expect(Math.max(...pushes.map(({ at }) => at))).toBe(15_000);
  expect(delivered).toBe(pushes.length);
  expect(delivered + unreached).toBe(900);
  expect(unreached).toBeGreaterThan(0);
});

test('the time may be over while pushes start', async () => {
  let now = 0;
  const { done } = pushVirtually(
    { recipients: recipientsAt(fcm, 900), lastPushAt: 1000 },
    undefined,
    {
      clock: () => new Date(now),
      // Each push takes the processor 10 ms.
      transport: async () => {
        now += 10;
        return { status: 201, headers: {}, body: '' };
      },
    },
  );
  expect(await done).toEqual({ ...noCounts, attempted: 100, delivered: 100, unreached: 800 });
});

test('a retry that comes too late counts as the failure before it', async () => {
  const { done, pushes } = pushVirtually(
    { recipients: recipientsAt(fcm, 1), lastPushAt: 1000 },
    (_, time) => {
      // A busy processor: the retry's timer fires late.
      time.at(200, () => time.work(1000));
      return { status: 429 };
    },
  );
  expect(await done).toEqual({
    ...noCounts,
    ...{ attempted: 1, failed: 1, failures: { throttled: 1 } },
  });
  expect(pushes).toHaveLength(1);
});

test('pushes in flight end by the end', async () => {
  const { done, time } = pushVirtually(
    { recipients: recipientsAt(fcm, 200), lastPushAt: 15_000, endAt: 18_000 },
    () => ({}),
  );
  const { attempted, failed, unreached } = await done;
  expect(time.now).toBe(18_000);
  expect(attempted).toBe(failed);
  expect(attempted + unreached).toBe(200);
});

test('removals in progress or waiting at the end count as not removed', async () => {
  let batches = 0;
  const { done, time } = pushVirtually(
    {
      recipients: goneAt(fcm, 550),
      remove: async () => {
        batches += 1;
        if (batches > 1) await never;
      },
    },
    () => ({ status: 410 }),
  );
  expect(await done).toEqual({
    ...noCounts,
    ...{ attempted: 550, removed: 50, failed: 500, failures: { not_removed: 500 } },
    removals: { fcm: 50 },
  });
  // One has ended, eight are in progress, two wait.
  expect(batches).toBe(9);
  expect(time.now).toBe(25_000);
});

test('a removal is aborted at the end', async () => {
  let abortedAt: number | undefined;
  const { done, time } = pushVirtually(
    {
      recipients: recipientsAt(fcm, 1),
      remove: (_, signal) => {
        signal.addEventListener('abort', () => {
          abortedAt = time.now;
        });
        return never;
      },
    },
    () => ({ status: 410 }),
  );
  await done;
  expect(abortedAt).toBe(25_000);
});

test('no timer continues after the end', async () => {
  const { done, time } = pushVirtually(
    { recipients: goneAt(fcm, 100), pushesPerSecond: 50 },
    () => ({
      status: 503,
    }),
  );
  await done;
  expect(time.now).toBeLessThan(20_000);
  expect(time.sleeping).toBe(0);
});
