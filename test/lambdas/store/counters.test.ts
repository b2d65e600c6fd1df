import { PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import type { ProjectRef } from '../../../contract/project.ts';
import {
  balanceParts,
  type Counter,
  giveBackUnits,
  monthCounter,
  newParts,
  readParts,
  shareOf,
  subscriberCounter,
  sumOf,
  type TakenUnits,
  takeUnit,
} from '../../../lambdas/store/counters.ts';
import { cancellationReasons, conditionFailed } from '../../../lambdas/store/dynamo.ts';
import { useDatabase } from '../../fixtures/database.ts';

const runs = 12;

const database = useDatabase();

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
      takeUnit(dynamo, counter, cap, part, async (take) => {
        try {
          await write(take);
          return 'taken';
        } catch (error) {
          if (cancellationReasons(error).some(conditionFailed)) return 'part_full';
          throw error;
        }
      }),
    giveBack: (part: number, units: number) => write(giveBackUnits(counter, part, units)),
    balance: (cap: number | null) => balanceParts(dynamo, counter, cap),
    parts: () => readParts(dynamo, counter),
  };
}

/** What a counter must do: one number, and a cap. */
class CounterModel {
  used = 0;
  cap: number | null;
  /** The most that it may count: the cap, or what it counted when the cap was set. */
  #most = Number.POSITIVE_INFINITY;

  constructor(cap: number | null) {
    this.cap = cap;
    this.setCap(cap);
  }

  setCap(cap: number | null): void {
    this.cap = cap;
    this.#most = cap === null ? Number.POSITIVE_INFINITY : Math.max(cap, this.used);
  }

  /** Between the cap and what was counted when it was set, both are right. */
  expectOutcome(outcome: string): void {
    if (this.cap === null || this.used < this.cap) expect(outcome).toBe('taken');
    if (this.used >= this.#most) expect(outcome).toBe('cap_reached');
    if (outcome === 'taken') this.used += 1;
  }
}

const cap = fc.option(fc.integer({ min: 0, max: 30 }), { nil: null });
const part = fc.nat({ max: 7 });
const operation = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('take' as const), part }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('giveBack' as const),
      part,
      units: fc.integer({ min: 1, max: 6 }),
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
      const model = new CounterModel(first);
      for (const one of all) {
        if (one.kind === 'take') {
          model.expectOutcome(await counter.take(model.cap, one.part));
        } else if (one.kind === 'giveBack') {
          const units = Math.min(one.units, model.used);
          if (units > 0) await counter.giveBack(one.part, units);
          model.used -= units;
        } else {
          await counter.balance(one.cap);
          model.setCap(one.cap);
        }
        expect(sumOf(await counter.parts())).toBe(model.used);
      }
    });
    await fc.assert(property, { numRuns: runs, seed: Number(process.env.SEED ?? 1) || 1 });
  }, 60_000);

  test('is balanced while units are taken and given back', async () => {
    const counter = counterOperations(await createCounter(counterOf));
    for (let taken = 0; taken < 40; taken += 1) await counter.take(null, 3);
    const limit = 50;
    const outcomes = await Promise.all([
      counter.balance(limit),
      counter.balance(limit),
      ...Array.from({ length: 20 }, (_, index) => counter.take(limit, index % 8)),
      ...Array.from({ length: 5 }, () => counter.giveBack(1, 2)),
    ]);
    const taken = outcomes.filter((outcome) => outcome === 'taken').length;
    const parts = await counter.parts();
    expect(sumOf(parts)).toBe(40 + taken - 10);
    // Without concurrent changes.
    await counter.balance(limit);
    const balanced = await counter.parts();
    expect(sumOf(balanced)).toBe(sumOf(parts));
    expect(balanced.every((used, part) => used! <= shareOf(limit, part))).toBe(true);
  });

  test('of a project that is deleted is not balanced', async () => {
    const counter = counterOf(database.tables.USAGE_TABLE, 'deleted' as ProjectRef);
    const { balance, parts } = counterOperations(counter);
    await balance(8);
    expect(await parts()).toEqual(Array(8).fill(undefined));
  });
});

test('a unit that is given back while a counter is read is taken', async () => {
  const { ref: project } = await database.createProject();
  const counter = subscriberCounter(database.tables.USAGE_TABLE, project);
  const outcomes = ['part_full', 'taken'] as const;
  const parts: string[] = [];
  const outcome = await takeUnit(database.dynamo, counter, 0, 3, async ({ Key }) => {
    parts.push(Key.period);
    return outcomes[parts.length - 1]!;
  });
  expect(outcome).toBe('taken');
  expect(parts).toEqual(['subscribers#3', 'subscribers#3']);
});

test('a unit of a project that is gone is not given back: its counter stays deleted', async () => {
  const counter = subscriberCounter(database.tables.USAGE_TABLE, 'unknown' as ProjectRef);
  const { giveBack, parts } = counterOperations(counter);
  const error = await giveBack(3, 1).catch((failure: unknown) => failure);
  expect(cancellationReasons(error).some(conditionFailed)).toBe(true);
  expect(await parts()).toEqual(Array(8).fill(undefined));
});

test.each([0, 1, 7, 8, 9, 100, 1003])('the shares of a cap of %d add up to it', (cap) => {
  const shares = Array.from({ length: 8 }, (_, part) => shareOf(cap, part));
  expect(shares.reduce((sum, share) => sum + share, 0)).toBe(cap);
  expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
});
