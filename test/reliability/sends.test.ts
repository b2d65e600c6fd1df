import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { utcMonth } from '../../lambdas/store/calendar.ts';
import { sendStore } from '../../lambdas/store/sends.ts';
import { projectTables } from '../../local/dynamodb/table-names.ts';
import { connect, type Database, startDatabase } from '../fixtures/database.ts';
import { Interleaving } from './fixtures/interleaving.ts';
import { type ProjectItems, readProjectItems } from './fixtures/project-items.ts';
import { clientsOfSends, RecordedSends } from './fixtures/recorded-sends.ts';
import { cases } from './fixtures/seed.ts';

const interleavings = 200;
const races = 40;

let database: Database;
let scheduled: ReturnType<typeof connect>;
let interleaving: Interleaving;

beforeAll(async () => {
  database = await startDatabase();
  scheduled = connect(database.endpoint);
  interleaving = new Interleaving(scheduled);
});
afterAll(async () => {
  scheduled.destroy();
  await database.stop();
});

/** Expects each monthly counter to equal the number of the month's notifications. */
function expectExactCounters({ subscribers, sendsByMonth, notifications }: ProjectItems): void {
  if (subscribers === undefined) return;
  const counted = new Map<string, number>();
  for (const { sentAt } of notifications.values()) {
    const month = utcMonth(new Date(sentAt));
    counted.set(month, (counted.get(month) ?? 0) + 1);
  }
  const used = [...sendsByMonth].filter(([, count]) => count !== 0);
  expect(new Map(used)).toEqual(counted);
}

const read = (projectId: string) => readProjectItems(database.dynamo, database.tables, projectId);

test('the monthly counter equals the accepted sends, an idempotency key is delivered once, and a deleted project leaves no items, in any interleaving', async () => {
  const property = fc.asyncProperty(fc.scheduler(), clientsOfSends, async (scheduler, clients) => {
    const projectId = await database.createProject();
    const recorded = new RecordedSends(projectId, scheduled, database.tables);
    let before = await read(projectId);
    await interleaving.run(
      scheduler,
      clients.map((operations) => async () => {
        for (const operation of operations) await recorded.perform(operation);
      }),
      async () => {
        const after = await read(projectId);
        expectExactCounters(after);
        for (const check of recorded.checks.splice(0)) check(before);
        before = after;
      },
    );
    expect(recorded.writeErrors).toEqual([]);
    const { notifications, idempotencyItems, sendsByMonth } = before;
    if (recorded.deleted) {
      expect({ notifications, idempotencyItems, sendsByMonth }).toEqual({
        notifications: new Map(),
        idempotencyItems: [],
        sendsByMonth: new Map(),
      });
    } else {
      expect(new Set(notifications.keys())).toEqual(recorded.accepted);
      const counted = { shown: 0, clicked: 0 };
      for (const { attempted, shown, clicked } of notifications.values()) {
        expect(attempted).toBe(3);
        counted.shown += shown;
        counted.clicked += clicked;
      }
      expect(counted).toEqual(recorded.events);
      for (const [, times] of recorded.deliveries) expect(times).toBe(1);
    }
  });
  await fc.assert(property, cases(interleavings));
});

test('concurrent sends are accepted up to the monthly cap exactly', async () => {
  const number = fc.integer({ min: 1, max: 40 });
  const property = fc.asyncProperty(number, number, number, async (earlier, cap, later) => {
    const projectId = await database.createProject();
    const sends = sendStore(database.dynamo, projectTables(database.tables));
    const sentAt = new Date('2126-11-20T12:00:00Z');
    const begin = async () => {
      const notification = { projectId, id: randomUUID(), content: { title: 'T' }, sentAt };
      return { notification, outcome: await sends.begin(notification, cap) };
    };
    const beginConcurrently = async (count: number) => {
      const begins = await Promise.all(Array.from({ length: count }, begin));
      return begins
        .filter(({ outcome }) => outcome === 'begun')
        .map(({ notification }) => notification);
    };

    const begun = await beginConcurrently(earlier);
    expect(begun).toHaveLength(Math.min(earlier, cap));
    // Each second send is released, twice: the second release must not return another unit.
    const released = begun.filter((_, index) => index % 2 === 0);
    await Promise.all([...released, ...released].map((one) => sends.release(one, 'r')));
    const remaining = cap - (begun.length - released.length);
    expect(await beginConcurrently(later)).toHaveLength(Math.min(later, remaining));

    const { sendsByMonth, notifications } = await read(projectId);
    const expected = begun.length - released.length + Math.min(later, remaining);
    expect([sendsByMonth.get('2126-11'), notifications.size]).toEqual([expected, expected]);
  });
  await fc.assert(property, cases(races, { endOnFailure: true }));
});
