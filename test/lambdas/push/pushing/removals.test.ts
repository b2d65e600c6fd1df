import type { Recipient } from '../../../../contract/infrastructure/slice.ts';
import { noCounts } from '../../../../contract/wire/counts.ts';
import { fcm, pushVirtually, recipientsAt } from '../../../fixtures/virtual-pushing.ts';

const gone = () => ({ status: 410 });

test('recipients that are gone are removed in batches, each once', async () => {
  const batches: (readonly Recipient[])[] = [];
  const { done } = pushVirtually(
    { recipients: recipientsAt(fcm, 130), remove: async (batch) => void batches.push(batch) },
    ({ path }) => ({ status: Number(path.split('/').at(-1)) < 120 ? 410 : 201 }),
  );
  expect(await done).toEqual({ ...noCounts, attempted: 130, delivered: 10, removed: 120 });
  expect(batches.map(({ length }) => length)).toEqual([50, 50, 20]);
  expect(new Set(batches.flat()).size).toBe(120);
});

test('batches of one group run one after another, and groups in parallel', async () => {
  const running = [0, 0];
  let most = 0;
  const groupOf = ({ path }: Recipient) => Number(path.split('/').at(-1)) % 2;
  const { done, time } = pushVirtually(
    {
      recipients: recipientsAt(fcm, 400),
      group: groupOf,
      remove: async (batch) => {
        const groups = new Set(batch.map(groupOf));
        expect(groups.size).toBe(1);
        const [group] = groups;
        running[group!]! += 1;
        expect(running[group!]).toBe(1);
        most = Math.max(most, running[0]! + running[1]!);
        await time.sleep(100);
        running[group!]! -= 1;
      },
    },
    gone,
  );
  expect(await done).toEqual({ ...noCounts, attempted: 400, removed: 400 });
  expect(most).toBe(2);
});

test('a batch that cannot be removed has failed, and the next one is tried', async () => {
  let batches = 0;
  const { done } = pushVirtually(
    {
      recipients: recipientsAt(fcm, 100),
      remove: async () => {
        batches += 1;
        if (batches === 1) throw new Error('throttled');
      },
    },
    gone,
  );
  expect(await done).toEqual({
    ...noCounts,
    ...{ attempted: 100, removed: 50, failed: 50, failures: { not_removed: 50 } },
  });
});

test('recipients that are gone are removed although another push has no response', async () => {
  let removedAt: number | undefined;
  const { done, time } = pushVirtually(
    {
      recipients: recipientsAt(fcm, 4),
      remove: async () => {
        removedAt = time.now;
      },
    },
    ({ path }) => (path === '/push/0' ? {} : gone()),
  );
  expect(await done).toMatchObject({ removed: 3, failures: { no_response: 1 } });
  expect(removedAt).toBeLessThan(2000);
});
