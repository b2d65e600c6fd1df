import { PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import type { ProjectRef } from '../../../contract/wire/project.ts';
import {
  type Counter,
  firstFrom,
  giveBackUnits,
  monthCounter,
  newParts,
  partPeriods,
  projectUsage,
  readParts,
  secondsToNextMonth,
  sharesOf,
  subscriberCounter,
  sumOf,
  type TakenUnits,
  takeUnit,
  utcMonth,
} from '../../../lambdas/store/counters.ts';
import { cancellationReasons, conditionFailed } from '../../../lambdas/store/dynamo.ts';
import { useDatabase } from '../../fixtures/database.ts';

const database = useDatabase();

const runs = 12;

/** Creates the counter of a project that has none, in a table without the project itself. */
async function createCounter(
  counterOf: (table: string, project: ProjectRef) => Counter,
): Promise<Counter> {
  const { dynamo, tables } = database;
  const counter = counterOf(tables.USAGE_TABLE, (await database.createProject()).ref);
  for (const Item of newParts(counter)) {
    await dynamo.send(new PutCommand({ TableName: tables.USAGE_TABLE, Item }));
  }
  return counter;
}

/** The real counter, without what it counts. */
function counterOperations(counter: Counter) {
  const { dynamo } = database;
  const write = (Update: TakenUnits | ReturnType<typeof giveBackUnits>) =>
    dynamo.send(new TransactWriteCommand({ TransactItems: [{ Update }] }));
  return {
    take: (cap: number | null, part: number) =>
      takeUnit(
        dynamo,
        counter,
        cap,
        firstFrom(part),
        async (take) => {
          try {
            await write(take());
            return 'taken';
          } catch (error) {
            if (cancellationReasons(error).some(conditionFailed)) return 'part_full';
            throw error;
          }
        },
        0,
      ),
    giveBack: (part: number, units: number) =>
      write(giveBackUnits(counter, part % partPeriods(counter.name).length, units)),
    parts: () => readParts(dynamo, counter),
  };
}

const cap = fc.option(fc.integer({ min: 0, max: 30 }), { nil: null });
const part = fc.nat({ max: 31 });
const operation = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('take' as const), part }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('giveBack' as const),
      part,
      units: fc.integer({ min: 1, max: 12 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cap' as const), cap }) },
);
const operations = fc.array(operation, { minLength: 10, maxLength: 60 });

describe.each([
  ['subscribers', subscriberCounter],
  [
    'notifications of a month',
    (table: string, project: ProjectRef) => monthCounter(table, project, new Date('2026-11-20')),
  ],
])('the counter of %s', (_name, counterOf) => {
  test('counts as one number with one cap would, for any operations', async () => {
    const property = fc.asyncProperty(cap, operations, async (first, all) => {
      const counter = counterOperations(await createCounter(counterOf));
      let [used, limit] = [0, first];
      for (const one of all) {
        if (one.kind === 'take') {
          const hasRoom = limit === null || used < limit;
          const outcome = await counter.take(limit, one.part);
          expect(outcome).toBe(hasRoom ? 'taken' : 'cap_reached');
          if (hasRoom) used += 1;
        } else if (one.kind === 'giveBack') {
          const units = Math.min(one.units, used);
          if (units > 0) await counter.giveBack(one.part, units);
          used -= units;
        } else {
          limit = one.cap;
        }
        expect(sumOf(await counter.parts())).toBe(used);
      }
    });
    await fc.assert(property, { numRuns: runs, seed: Number(process.env.SEED ?? 1) || 1 });
  }, 60_000);

  test('does not exceed the greater cap while functions use two, nor the lower one as soon as all use it', async () => {
    const counter = counterOperations(await createCounter(counterOf));
    for (let taken = 0; taken < 40; taken += 1) await counter.take(null, 3);
    const takes = (number: number, limits: readonly number[]) =>
      Promise.all(
        Array.from({ length: number }, (_, index) =>
          counter.take(limits[index % limits.length]!, index % 8),
        ),
      );
    await Promise.all([
      takes(30, [50, 45]),
      ...Array.from({ length: 5 }, (_, part) => counter.giveBack(part, 1)),
    ]);
    const used = sumOf(await counter.parts());
    expect(used).toBeLessThanOrEqual(50);
    expect(used).toBeGreaterThanOrEqual(45);
    // Of one part, so that others have more than their share.
    await counter.giveBack(1, used - 15);
    expect((await takes(12, [20])).filter((outcome) => outcome === 'taken')).toHaveLength(5);
    expect(sumOf(await counter.parts())).toBe(20);
  });

  test('of a project that is deleted stays deleted', async () => {
    const counter = counterOf(database.tables.USAGE_TABLE, 'deleted' as ProjectRef);
    const { take, parts } = counterOperations(counter);
    for (const limit of [null, 8, 0]) expect(await take(limit, 3)).toBe('cap_reached');
    expect(await parts()).toEqual(partPeriods(counter.name).map(() => undefined));
  });
});

test('a unit that is given back while a counter is read is taken', async () => {
  const { ref: project } = await database.createProject();
  const counter = subscriberCounter(database.tables.USAGE_TABLE, project);
  const outcomes = ['part_full', 'taken'] as const;
  const parts: string[] = [];
  const attempt = async (take: () => TakenUnits) => {
    parts.push(take().Key.period);
    return outcomes[parts.length - 1]!;
  };
  const outcome = await takeUnit(database.dynamo, counter, 0, firstFrom(3), attempt, 0);
  expect(outcome).toBe('taken');
  expect(parts).toEqual(['subscribers#3', 'subscribers#3']);
});

test('a unit of a project that is gone is not given back: its counter stays deleted', async () => {
  const counter = subscriberCounter(database.tables.USAGE_TABLE, 'unknown' as ProjectRef);
  const { giveBack, parts } = counterOperations(counter);
  const error = await giveBack(3, 1).catch((failure: unknown) => failure);
  expect(cancellationReasons(error).some(conditionFailed)).toBe(true);
  expect(await parts()).toEqual(partPeriods(counter.name).map(() => undefined));
});

test.each([0, 1, 7, 8, 9, 100, 1003])('the shares of a cap of %d add up to it', (cap) => {
  const shares = sharesOf(cap, 8);
  expect(shares.reduce((sum, share) => sum + share, 0)).toBe(cap);
  expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
});

const usage = (project: ProjectRef) =>
  projectUsage(database.dynamo, database.tables.USAGE_TABLE)(project, '2026-11');

function put(Item: Record<string, unknown>) {
  return database.dynamo.send(new PutCommand({ TableName: database.tables.USAGE_TABLE, Item }));
}

test('the usage of a project is the sum of its parts, and of one month', async () => {
  const { ref: project } = await database.createProject();
  for (const [period, used] of [
    ['subscribers#0', -3],
    ['subscribers#7', 12],
    ['2026-10#0', 1],
    ['2026-11#0', 20],
    ['2026-11#7', -3],
    ['2026-12#0', 400],
  ]) {
    await put({ projectRef: project, period, used });
  }
  expect(await usage(project)).toEqual({
    subscribers: 9,
    month: '2026-11',
    sends: 17,
  });
});

test('an unknown project has used nothing', async () => {
  const nothing = { subscribers: 0, month: '2026-11', sends: 0 };
  expect(await usage('unknown' as ProjectRef)).toEqual(nothing);
});

test.each([
  ['2126-11-30T23:59:59.500Z', 1],
  ['2126-12-31T23:00:00Z', 3600],
  ['2028-02-01T00:00:00Z', 29 * 24 * 60 * 60],
])('at %s the next month starts in %i s', (now, seconds) => {
  expect(secondsToNextMonth(new Date(now))).toBe(seconds);
});

test.each([
  ['2126-11-30T23:59:59.999Z', '2126-11'],
  ['2126-12-01T00:00:00Z', '2126-12'],
])('%s is in the UTC month %s', (time, month) => {
  expect(utcMonth(new Date(time))).toBe(month);
});
