import type { Recipient } from '../../../../contract/infrastructure/slice.ts';
import { noCounts } from '../../../../contract/wire/counts.ts';
import { fcm, pushVirtually, recipientsAt } from '../../../fixtures/virtual-pushing.ts';
import type { Scheduler } from '../../../simulation/time/scheduler.ts';

// A text for a user must not reach the browser's next user: RFC 8030 knows nothing of users.

/** Pushes that are throttled once, so that each one is repeated. Records when it was asked for whom. */
function throttledOnce(
  answer: (recipient: Recipient, time: Scheduler) => Promise<boolean>,
  retryAfter: string,
  recipients = recipientsAt(fcm, 3),
) {
  const asked: { readonly path: string; readonly at: number }[] = [];
  const attempts = new Map<string, number>();
  const { done, pushes, time } = pushVirtually(
    {
      recipients,
      isStillWanted: (one) => {
        asked.push({ path: one.path, at: time.now });
        return answer(one, time);
      },
    },
    ({ path }) => {
      const number = (attempts.get(path) ?? 0) + 1;
      attempts.set(path, number);
      if (number > 1) return { status: 201 };
      return { status: 429, headers: { 'retry-after': retryAfter } };
    },
  );
  return { done, pushes, asked };
}

test('nobody is asked about a push that starts within a second after its recipient was read', async () => {
  const { done, asked } = throttledOnce(async () => false, '0');
  expect(await done).toMatchObject({ delivered: 3 });
  expect(asked).toEqual([]);
});

test('a later push is sent only to who is still wanted, and counts as throttled otherwise', async () => {
  const { done, pushes, asked } = throttledOnce(async ({ path }) => path !== '/push/1', '5');
  expect(await done).toEqual({
    ...noCounts,
    ...{ attempted: 3, delivered: 2, failed: 1, failures: { throttled: 1 } },
  });
  expect(asked.map(({ at }) => at)).toEqual([5050, 5050, 5050]);
  expect(pushes.filter(({ at }) => at > 5000).map(({ path }) => path)).toEqual([
    ...['/push/0', '/push/2'],
  ]);
});

test('a recipient who was never pushed to and is no longer wanted is unreached', async () => {
  const { done, pushes } = pushVirtually(
    // One push a second.
    { recipients: recipientsAt(fcm, 4), pushesPerSecond: 1, isStillWanted: async () => false },
  );
  const { delivered, unreached } = await done;
  expect(delivered).toBe(pushes.length);
  expect(pushes.every(({ at }) => at <= 1000)).toBe(true);
  expect(delivered + unreached).toBe(4);
});

test('a push waits while nobody knows whether it is wanted', async () => {
  let fails = true;
  const { done, pushes, asked } = throttledOnce(
    async () => {
      if (!fails) return true;
      fails = false;
      throw new Error('The database is away.');
    },
    '5',
    recipientsAt(fcm, 1),
  );
  expect(await done).toMatchObject({ delivered: 1 });
  expect(asked.map(({ at }) => at)).toEqual([5050, 5550]);
  expect(pushes.map(({ at }) => at)).toEqual([0, 5550]);
});

test('an answer that took too long is asked for again', async () => {
  let answers = 0;
  const { done, asked } = throttledOnce(
    async (_, time) => {
      answers += 1;
      if (answers === 1) await time.sleep(1500);
      return true;
    },
    '5',
    recipientsAt(fcm, 1),
  );
  expect(await done).toMatchObject({ delivered: 1 });
  expect(asked.map(({ at }) => at)).toEqual([5050, 6550]);
});
