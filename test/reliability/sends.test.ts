import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { projectTables } from '../../admin/project-tables.ts';
import { noCounts } from '../../contract/counts.ts';
import { utcMonth } from '../../lambdas/store/calendar.ts';
import { tallyKey } from '../../lambdas/store/items.ts';
import { sendStore } from '../../lambdas/store/sends.ts';
import { tallyStore } from '../../lambdas/store/tallies.ts';
import { connect, type Database, projectCreatedAt, startDatabase } from '../fixtures/database.ts';
import { Interleaving } from './fixtures/interleaving.ts';
import { type ProjectItems, readProjectItems } from './fixtures/project-items.ts';
import { clientsOfSends, RecordedSends } from './fixtures/recorded-sends.ts';
import { cases } from './fixtures/seed.ts';

const interleavings = 200;
const cancellations = 40;

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
    const { notifications, idempotencyItems, sendsByMonth, tallies } = before;
    if (recorded.deleted) {
      expect({ notifications, idempotencyItems, sendsByMonth }).toEqual({
        notifications: new Map(),
        idempotencyItems: [],
        sendsByMonth: new Map(),
      });
    } else {
      expect(new Set(notifications.keys())).toEqual(recorded.accepted);
      const counted = { shown: 0, clicked: 0 };
      for (const { shown = 0, clicked = 0 } of tallies.values()) {
        counted.shown += shown;
        counted.clicked += clicked;
      }
      expect(counted).toEqual(recorded.events);
      for (const [id, { shares, talliesPerShare }] of notifications) {
        for (let share = 0; share < shares; share += 1) {
          const first = tallies.get(tallyKey(id, share * talliesPerShare));
          expect(first).toMatchObject({ attempted: 3, pending: 0, ended: 'complete' });
        }
      }
      for (const [, times] of recorded.deliveries) expect(times).toBe(1);
    }
  });
  await fc.assert(property, cases(interleavings));
});

test('a send is either cancelled or delivered, however the claims of its shares and the cancellation interleave', async () => {
  const shares = 3;
  const property = fc.asyncProperty(fc.scheduler(), async (scheduler) => {
    const projectId = await database.createProject();
    const tables = projectTables(database.tables);
    const sends = sendStore(scheduled, tables);
    const tallies = tallyStore(scheduled, tables.tallies);
    const plan = { subscribers: 60_000, shares, talliesPerShare: 2, respondedAsync: false };
    const sentAt = new Date('2126-11-20T12:00:00Z');
    const notification = {
      ...{ projectId, projectCreatedAt, id: randomUUID() },
      ...{ content: { title: 'T' }, plan, sentAt },
    };
    expect(await sends.begin(notification, null)).toBe('begun');
    let started = 0;
    await interleaving.run(
      scheduler,
      [
        () => sends.cancel(notification, 'first request'),
        ...Array.from({ length: shares }, (_, share) => async () => {
          const firstTally = share * plan.talliesPerShare;
          const key = {
            projectId,
            notificationId: notification.id,
            firstTally,
            expiresAt: 2 ** 33,
          };
          const until = sentAt.getTime() + 1000;
          const writer = { by: `repetition ${share}`, step: 1 };
          const claim = { until, position: 1, pending: 3, counts: noCounts, ended: undefined };
          if ((await tallies.save(key, writer, claim)) === undefined) started += 1;
        }),
      ],
      async () => {},
    );
    const { notifications, sendsByMonth } = await read(projectId);
    const isCancelled = notifications.size === 0;
    expect(started).toBe(isCancelled ? 0 : shares);
    expect(sendsByMonth.get('2126-11')).toBe(isCancelled ? 0 : 1);
  });
  await fc.assert(property, cases(cancellations));
});
