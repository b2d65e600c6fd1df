import type {
  BatchGetCommand,
  BatchGetCommandInput,
  DynamoDBDocumentClient,
} from '@aws-sdk/lib-dynamodb';
import { noCounts } from '../../../contract/counts.ts';
import {
  type ShareKey,
  type StoredProgress,
  type TallyStore,
  tallyStore,
  type Writer,
} from '../../../lambdas/store/tallies.ts';
import { type Database, startDatabase } from '../../fixtures/database.ts';

let database: Database;
let tallies: TallyStore;
let made = 0;

beforeAll(async () => {
  database = await startDatabase();
  tallies = tallyStore(database.dynamo, database.tables.TALLIES_TABLE);
});
afterAll(() => database.stop());

const counts = { ...noCounts, attempted: 3, delivered: 2, failed: 1, failures: { refused: 1 } };

function newShare(): ShareKey {
  made += 1;
  return {
    projectId: 'shop',
    notificationId: `n${made}`,
    firstTally: 0,
    // Far ahead: DynamoDB Local deletes within seconds what has expired.
    expiresAt: 5_000_000_000,
  };
}

const progress = (change: Partial<StoredProgress> = {}): StoredProgress => ({
  until: 1000,
  position: 10,
  pending: 5,
  counts: noCounts,
  ended: undefined,
  ...change,
});

/** The first write of an invocation. */
const newcomer = (by: string): Writer => ({ by, step: 1 });
/** A later one. */
const owner = (by: string, step = 2): Writer => ({ by, step, previous: { by, step: 1 } });

async function first(key: ShareKey) {
  return (await tallies.find(key.notificationId, [key.firstTally]))[0];
}

describe('a share', () => {
  test('is claimed by one of many invocations', async () => {
    const key = newShare();
    const ids = Array.from({ length: 20 }, (_, index) => `invocation ${index}`);
    const saved = await Promise.all(ids.map((id) => tallies.save(key, newcomer(id), progress())));
    const winners = ids.filter((_, index) => saved[index] === undefined);
    expect(winners).toHaveLength(1);
    expect((await first(key))?.claim?.by).toBe(winners[0]);
  });

  test('stays claimed when the call is repeated', async () => {
    const key = newShare();
    expect(await tallies.save(key, newcomer('a'), progress())).toBeUndefined();
    expect(await tallies.save(key, newcomer('a'), progress())).toBeUndefined();
  });

  test('is described to an invocation that does not get it', async () => {
    const key = newShare();
    const stored = { until: 77, position: 8, pending: 4, counts };
    await tallies.save(key, newcomer('a'), progress(stored));
    expect(await tallies.save(key, newcomer('b'), progress())).toEqual({
      claim: { by: 'a', step: 1, until: 77 },
      position: 8,
      pending: 4,
      counts,
      ended: undefined,
      shown: 0,
      clicked: 0,
    });
  });

  test('is taken over from the invocation that had it, by one', async () => {
    const key = newShare();
    await tallies.save(key, newcomer('a'), progress());
    const previous = { by: 'a', step: 1 };
    const saved = await Promise.all(
      ['b', 'c', 'd'].map((by) =>
        tallies.save(key, { by, step: 1, previous }, progress({ position: 20, counts })),
      ),
    );
    expect(saved.filter((other) => other === undefined)).toHaveLength(1);
    expect(await first(key)).toMatchObject({ position: 20, counts });
  });

  test('is not taken over from an invocation that has written since', async () => {
    const key = newShare();
    await tallies.save(key, newcomer('a'), progress());
    await tallies.save(key, owner('a'), progress({ position: 20 }));
    const takeover = { by: 'b', step: 1, previous: { by: 'a', step: 1 } };
    expect(await tallies.save(key, takeover, progress({ position: 30 }))).toMatchObject({
      claim: { by: 'a', step: 2 },
      position: 20,
    });
  });

  test('is not taken back by the invocation that has lost it', async () => {
    const key = newShare();
    await tallies.save(key, newcomer('a'), progress());
    const takeover = { by: 'b', step: 1, previous: { by: 'a', step: 1 } };
    expect(await tallies.save(key, takeover, progress())).toBeUndefined();
    const other = { claim: { by: 'b' } };
    expect(await tallies.save(key, owner('a'), progress())).toMatchObject(other);
    expect(await tallies.save(key, newcomer('a'), progress())).toMatchObject(other);
  });

  test('keeps the counts of its own invocation only', async () => {
    const key = newShare();
    await tallies.save(key, newcomer('a'), progress());
    const end = progress({ pending: 0, counts, ended: 'complete' });
    await tallies.save(key, owner('b'), end);
    expect(await first(key)).toMatchObject({ pending: 5, counts: noCounts, ended: undefined });
    await tallies.save(key, owner('a'), progress({ pending: 2, counts }));
    expect(await first(key)).toMatchObject({ pending: 2, counts, ended: undefined });
    await tallies.save(key, owner('a', 3), end);
    expect(await first(key)).toMatchObject({ pending: 0, counts, ended: 'complete' });
  });
});

describe('a share that is stopped', () => {
  const stoppedAt = 900;
  const knowing = (writer: Writer): Writer => ({ ...writer, knowsStop: true });

  test('refuses a claim, although nobody has had it', async () => {
    const key = newShare();
    await tallies.stop(key, stoppedAt);
    const refused = { stoppedAt, claim: undefined, position: 0 };
    expect(await tallies.save(key, newcomer('a'), progress())).toMatchObject(refused);
    expect(await first(key)).toMatchObject(refused);
  });

  test('refuses each write of an invocation that does not know it', async () => {
    const key = newShare();
    await tallies.save(key, newcomer('a'), progress());
    await tallies.stop(key, stoppedAt);
    const refused = { stoppedAt, claim: { by: 'a', step: 1 }, position: 10 };
    expect(await tallies.save(key, owner('a'), progress({ position: 20 }))).toMatchObject(refused);
    const takeover = { by: 'b', step: 1, previous: { by: 'a', step: 1 } };
    expect(await tallies.save(key, takeover, progress({ position: 20 }))).toMatchObject(refused);
  });

  test('keeps the counts of an invocation that knows it, and only of the one that has it', async () => {
    const key = newShare();
    await tallies.save(key, newcomer('a'), progress());
    await tallies.stop(key, stoppedAt);
    const end = progress({ pending: 0, counts, ended: 'incomplete' });
    expect(await tallies.save(key, knowing(newcomer('b')), end)).toMatchObject({ pending: 5 });
    expect(await tallies.save(key, knowing(owner('a')), end)).toBeUndefined();
    expect(await first(key)).toMatchObject({ stoppedAt, counts, ended: 'incomplete' });
  });

  test('is taken over by one that knows it', async () => {
    const key = newShare();
    await tallies.save(key, newcomer('a'), progress());
    await tallies.stop(key, stoppedAt);
    const takeover = { by: 'b', step: 1, previous: { by: 'a', step: 1 } };
    expect(await tallies.save(key, knowing(takeover), progress())).toBeUndefined();
  });

  test('keeps the time of the first stop', async () => {
    const key = newShare();
    await tallies.stop(key, stoppedAt);
    await tallies.stop(key, 5000);
    expect(await first(key)).toMatchObject({ stoppedAt });
  });

  test('counts events, also if nobody has had it', async () => {
    const key = newShare();
    await tallies.stop(key, stoppedAt);
    expect(await tallies.count('shop', key.notificationId, 0, 'shown')).toBe(true);
  });

  test('has not ended before', async () => {
    const key = newShare();
    await tallies.save(key, newcomer('a'), progress({ ended: 'complete' }));
    await tallies.stop(key, stoppedAt);
    expect((await first(key))!.stoppedAt).toBeUndefined();
  });
});

test('tallies of several notifications are found in the given order', async () => {
  const [one, other] = [newShare(), newShare()];
  for (const key of [one, other]) await tallies.save(key, newcomer('a'), progress());
  for (let number = 1; number < 130; number += 1) await tallies.open(one, number);
  const numbers = Array.from({ length: 131 }, (_, number) => 130 - number);
  const found = await tallies.findEach([
    { notificationId: other.notificationId, numbers: [1, 0] },
    { notificationId: one.notificationId, numbers },
    { notificationId: 'unknown', numbers: [0] },
    { notificationId: one.notificationId, numbers: [] },
  ]);
  expect(found.map((own) => own.length)).toEqual([2, 131, 1, 0]);
  expect(found[0]).toEqual([undefined, expect.objectContaining({ pending: 5 })]);
  expect(found[1]!.map((tally) => tally?.pending)).toEqual([
    undefined,
    ...Array<number>(129).fill(0),
    5,
  ]);
  expect(found[2]).toEqual([undefined]);
});

test('a write that arrives late does nothing', async () => {
  const key = newShare();
  await tallies.save(key, newcomer('a'), progress());
  const save = (step: number, pending: number) =>
    tallies.save(key, owner('a', step), progress({ pending }));
  expect(await save(3, 0)).toBeUndefined();
  expect(await save(2, 4)).toMatchObject({ pending: 0 });
  expect(await first(key)).toMatchObject({ pending: 0 });
});

describe('events', () => {
  test('are counted in the tally that they name, each once', async () => {
    const key = newShare();
    await tallies.save(key, newcomer('a'), progress());
    await tallies.open(key, 1);
    const count = (tally: number, type: 'shown' | 'clicked') =>
      tallies.count('shop', key.notificationId, tally, type);
    const counted = await Promise.all([
      ...Array.from({ length: 30 }, () => count(0, 'shown')),
      ...Array.from({ length: 20 }, () => count(1, 'shown')),
      count(1, 'clicked'),
    ]);
    expect(counted.every(Boolean)).toBe(true);
    expect(await tallies.find(key.notificationId, [0, 1])).toMatchObject([
      { shown: 30, clicked: 0 },
      { shown: 20, clicked: 1 },
    ]);
  });

  test('survive the progress of their share', async () => {
    const key = newShare();
    await tallies.save(key, newcomer('a'), progress());
    await tallies.count('shop', key.notificationId, 0, 'shown');
    await tallies.open(key, 0);
    await tallies.save(key, owner('a'), progress({ position: 20 }));
    await tallies.save(key, owner('a', 3), progress({ pending: 0, ended: 'complete' }));
    expect(await first(key)).toMatchObject({ shown: 1 });
  });

  test.each([
    ['another project', 'blog', 0],
    ['an unknown tally', 'shop', 1],
  ])('of %s are refused and leave nothing', async (_, projectId, tally) => {
    const key = newShare();
    await tallies.save(key, newcomer('a'), progress());
    expect(await tallies.count(projectId, key.notificationId, tally, 'shown')).toBe(false);
    expect(await tallies.find(key.notificationId, [0, 1])).toMatchObject([{ shown: 0 }, undefined]);
  });
});

test('more than 100 tallies are found, in order', async () => {
  const key = newShare();
  const numbers = Array.from({ length: 130 }, (_, number) => number);
  await Promise.all(numbers.map((number) => tallies.open(key, number)));
  await tallies.count('shop', key.notificationId, 129, 'clicked');
  const found = await tallies.find(key.notificationId, [...numbers, 130]);
  expect(found.map((tally) => tally?.clicked)).toEqual([...Array(129).fill(0), 1, undefined]);
});

describe('tallies are read', () => {
  /** A client that answers with a page of one tally each. */
  function pagingClient() {
    const requests: BatchGetCommandInput[] = [];
    const client = {
      send: async ({ input }: BatchGetCommand) => {
        requests.push(input);
        const [[table, { Keys = [] }]] = Object.entries(input.RequestItems!) as [
          [string, { Keys?: Record<string, unknown>[] }],
        ];
        const [read, ...left] = Keys;
        return {
          Responses: { [table]: [{ ...read, shown: requests.length }] },
          UnprocessedKeys: left.length === 0 ? {} : { [table]: { Keys: left } },
        };
      },
    };
    return { client: client as unknown as DynamoDBDocumentClient, requests };
  }

  test('until DynamoDB has processed all keys', async () => {
    const { client, requests } = pagingClient();
    const found = await tallyStore(client, 'Tallies').find('n', [0, 1, 2]);
    expect(found.map((tally) => tally?.shown)).toEqual([1, 2, 3]);
    expect(requests).toHaveLength(3);
  });

  // A claim that was just written decides whether somebody is pushed to twice.
  test('consistently', async () => {
    const { client, requests } = pagingClient();
    const store = tallyStore(client, 'Tallies');
    await store.find('n', [0, 1]);
    await store.findEach([{ notificationId: 'n', numbers: [0] }]);
    expect(requests.map(({ RequestItems }) => RequestItems!.Tallies!.ConsistentRead)).toEqual([
      ...[true, true, true],
    ]);
  });
});
