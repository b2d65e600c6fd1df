import { noCounts } from '../../../contract/wire/counts.ts';
import { useDatabase } from '../../fixtures/database.ts';
import { sliceKey, slicesOf, writeOf } from './stored-notifications.ts';

// Which write is refused in which state: `slice-writes.test.ts`.

let made = 0;

const database = useDatabase();

const slices = () => slicesOf(database);
const newKey = () => {
  made += 1;
  return sliceKey({ id: `n${made}` });
};
const first = async (key: ReturnType<typeof newKey>) =>
  (await slices().find(key.notificationId, [0]))[0];

const counts = { ...noCounts, attempted: 3, delivered: 2, failed: 1, failures: { refused: 1 } };

test('a slice is claimed by one of many invocations', async () => {
  const key = newKey();
  const ids = Array.from({ length: 20 }, (_, index) => `invocation ${index}`);
  const refused = await Promise.all(ids.map((by) => slices().write(key, writeOf(by))));
  const winners = ids.filter((_, index) => refused[index] === undefined);
  expect(winners).toHaveLength(1);
  expect((await first(key))?.lease?.by).toBe(winners[0]);
});

test('a refused write returns the slice as it is', async () => {
  const key = newKey();
  const progress = { position: 8, claimed: 7, counts, reached: Uint8Array.of(5), isRead: true };
  await slices().write(key, writeOf('a', 1, { until: 77, ...progress }));
  const stored = { lease: { by: 'a', n: 1, until: 77 }, ...progress };
  expect(await slices().write(key, writeOf('b'))).toEqual({ refusal: 'lost', slice: stored });
  expect(await first(key)).toEqual(stored);
});

test('a stop keeps the time of the first one, also of a slice that nobody has had', async () => {
  const key = newKey();
  await slices().stop(key, 900);
  await slices().stop(key, 5000);
  const stopped = { stoppedAt: 900, lease: undefined, position: 0, counts: noCounts };
  expect(await first(key)).toMatchObject(stopped);
  expect(await slices().write(key, writeOf('a'))).toMatchObject({
    ...{ refusal: 'stopped', slice: stopped },
  });
});

test('more than 100 slices are found, in the given order', async () => {
  const { notificationId } = newKey();
  const numbers = Array.from({ length: 131 }, (_, index) => 130 - index);
  await Promise.all(
    numbers
      .filter((number) => number !== 7)
      .map((number) =>
        slices().write(
          sliceKey({ id: notificationId }, number),
          writeOf('a', 1, { position: number }),
        ),
      ),
  );
  const found = await slices().find(notificationId, numbers);
  expect(found.map((slice) => slice?.position)).toEqual(
    numbers.map((number) => (number === 7 ? undefined : number)),
  );
});
