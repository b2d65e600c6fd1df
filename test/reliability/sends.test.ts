import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { ProjectNotFound } from '../../admin/project-errors.ts';
import { projectRegistry } from '../../admin/project-registry.ts';
import { ServiceError } from '../../contract/errors.ts';
import type { DeliveryReport } from '../../lambdas/push/delivery/delivery.ts';
import { type SendParts, send } from '../../lambdas/send/send.ts';
import { audienceStore } from '../../lambdas/store/audience.ts';
import { utcMonth } from '../../lambdas/store/calendar.ts';
import { eventStore } from '../../lambdas/store/events.ts';
import { signingProjectStore } from '../../lambdas/store/projects.ts';
import type { NewNotification } from '../../lambdas/store/send-writes.ts';
import { sendStore } from '../../lambdas/store/sends.ts';
import { projectTables } from '../../local/dynamodb/table-names.ts';
import { connect, type Database, startDatabase } from '../fixtures/database.ts';
import { Interleaving } from './fixtures/interleaving.ts';
import { type ProjectItems, readProjectItems } from './fixtures/owned-tables.ts';
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

const deployedCap = 4;

type Operation =
  | {
      readonly kind: 'send';
      readonly at: string;
      readonly title: string;
      readonly idempotencyKey: string | undefined;
      /** Whether the audience can be read. */
      readonly readable: boolean;
    }
  | { readonly kind: 'beacon'; readonly of: number; readonly type: 'shown' | 'clicked' }
  | { readonly kind: 'cap'; readonly cap: number | null | 'default' }
  | { readonly kind: 'delete' };

const operation = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      // The last and the first moment of a month, each with a counter of its own; far ahead, since
      // DynamoDB Local deletes within seconds what its TTL says is over.
      at: fc.constantFrom('2126-11-30T23:59:59.999Z', '2126-12-01T00:00:00.000Z'),
      title: fc.constantFrom('A', 'B'),
      idempotencyKey: fc.option(fc.constantFrom('k1', 'k2'), { nil: undefined }),
      readable: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('beacon' as const),
      of: fc.nat({ max: 5 }),
      type: fc.constantFrom('shown' as const, 'clicked' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('cap' as const),
      cap: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constantFrom(null, 'default' as const)),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'delete' as const }) },
) satisfies fc.Arbitrary<Operation>;

/** What some do at the same time, each one thing after the other. */
const doings = fc.array(fc.array(operation, { minLength: 1, maxLength: 4 }), {
  minLength: 2,
  maxLength: 5,
});

/** What must hold of the call that something ended with, given what there was before it. */
type Verdict = (before: ProjectItems) => void;

const interruption = new Error('The audience cannot be read.');
const delivered: DeliveryReport = {
  attempted: 3,
  delivered: 1,
  removed: 1,
  failed: 1,
  unreached: 0,
  failures: { refused: 1 },
};
const unread: DeliveryReport = {
  attempted: 0,
  delivered: 0,
  removed: 0,
  failed: 0,
  unreached: 1,
  failures: {},
  interruption,
};

/** One project, those who use it, and what is known of what they did. */
class Story {
  readonly #projectId: string;
  readonly verdicts: Verdict[] = [];
  /** Ids of accepted sends, answered with their counts. */
  readonly accepted = new Set<string>();
  /** Pushes made under each idempotency key. */
  readonly deliveries = new Map<string, number>();
  readonly beacons = { shown: 0, clicked: 0 };
  /** Errors of what could not be recorded. */
  readonly unrecorded: unknown[] = [];
  deleted = false;
  readonly #stores;

  constructor(projectId: string, dynamo: typeof scheduled) {
    const { tables } = database;
    const names = projectTables(tables);
    this.#projectId = projectId;
    this.#stores = {
      sends: sendStore(dynamo, names),
      beacons: eventStore(dynamo, names.notifications),
      audiences: audienceStore(dynamo, names),
      registry: projectRegistry(dynamo, names, () => new Date()),
      projects: signingProjectStore(dynamo, names, () => new Date()),
    };
  }

  async perform(operation: Operation): Promise<void> {
    const { registry, beacons } = this.#stores;
    const projectId = this.#projectId;
    switch (operation.kind) {
      case 'send':
        return this.#send(operation);
      case 'beacon': {
        const id = [...this.accepted][operation.of] ?? randomUUID();
        const found = await beacons.count(projectId, id, operation.type);
        if (found) this.beacons[operation.type] += 1;
        this.verdicts.push(({ notifications }) => expect(found).toBe(notifications.has(id)));
        return;
      }
      case 'cap':
        return this.#ignoringDeletion(
          registry.setPlan(projectId, { monthlySendCap: operation.cap }),
        );
      case 'delete':
        await this.#ignoringDeletion(registry.remove(projectId, randomBytes));
        this.deleted = true;
    }
  }

  async #send({ at, title, idempotencyKey, readable }: Operation & { kind: 'send' }) {
    const { projects, sends, audiences } = this.#stores;
    const project = await projects.find(this.#projectId);
    if (project === undefined) return;
    const parts: SendParts = {
      sends: { ...sends, begin: (notification, cap) => this.#begin(notification, cap) },
      audiences,
      deliver: async () => {
        if (readable && idempotencyKey !== undefined) {
          this.deliveries.set(idempotencyKey, (this.deliveries.get(idempotencyKey) ?? 0) + 1);
        }
        return readable ? delivered : unread;
      },
      clock: () => new Date(at),
      abortAfter: () => new AbortController().signal,
      newId: randomUUID,
      monthlyCap: deployedCap,
      observe: {
        delivered: () => {},
        recordFailed: (_, __, error) => this.unrecorded.push(error),
      },
    };
    try {
      const baseUrl = 'https://push.example.com';
      const { id } = await send(parts, project, {
        ...{ request: { title }, idempotencyKey, baseUrl },
        ...{ requestId: randomUUID(), startedAt: new Date(at) },
      });
      this.accepted.add(id);
    } catch (error) {
      if (error !== interruption && !(error instanceof ServiceError)) throw error;
    }
  }

  async #begin(notification: NewNotification, cap: number | null) {
    const outcome = await this.#stores.sends.begin(notification, cap);
    this.verdicts.push(({ subscribers, months, repetitions }) => {
      const sent = months.get(utcMonth(notification.sentAt)) ?? 0;
      const keyHash = notification.idempotency?.keyHash;
      const isKnown = repetitions.some(({ notificationId }) => notificationId === `key#${keyHash}`);
      const right = isKnown ? 'repeated' : cap === null || sent < cap ? 'begun' : 'cap_reached';
      expect(outcome).toBe(subscribers === undefined ? 'project_gone' : right);
    });
    return outcome;
  }

  async #ignoringDeletion(change: Promise<unknown>): Promise<void> {
    try {
      await change;
    } catch (error) {
      if (!(error instanceof ProjectNotFound)) throw error;
    }
  }
}

/** Each month's counter says how many of its notifications there are. */
function expectExact({ subscribers, months, notifications }: ProjectItems): void {
  if (subscribers === undefined) return;
  const counted = new Map<string, number>();
  for (const { sentAt } of notifications.values()) {
    const month = utcMonth(new Date(sentAt));
    counted.set(month, (counted.get(month) ?? 0) + 1);
  }
  const given = [...months].filter(([, used]) => used !== 0);
  expect(new Map(given)).toEqual(counted);
}

const read = (projectId: string) => readProjectItems(database.dynamo, database.tables, projectId);

test('the month’s counter equals the accepted sends, no idempotency key notifies twice, and a deleted project leaves nothing, in whatever order calls interleave', async () => {
  const property = fc.asyncProperty(fc.scheduler(), doings, async (scheduler, all) => {
    const projectId = await database.createProject();
    const story = new Story(projectId, scheduled);
    let before = await read(projectId);
    await interleaving.run(
      scheduler,
      all.map((operations) => async () => {
        for (const one of operations) await story.perform(one);
      }),
      async () => {
        const after = await read(projectId);
        expectExact(after);
        for (const verdict of story.verdicts.splice(0)) verdict(before);
        before = after;
      },
    );
    expect(story.unrecorded).toEqual([]);
    const { notifications, repetitions, months } = before;
    if (story.deleted) {
      expect({ notifications, repetitions, months }).toEqual({
        notifications: new Map(),
        repetitions: [],
        months: new Map(),
      });
    } else {
      expect(new Set(notifications.keys())).toEqual(story.accepted);
      const counted = { shown: 0, clicked: 0 };
      for (const { attempted, shown, clicked } of notifications.values()) {
        expect(attempted).toBe(3);
        counted.shown += shown;
        counted.clicked += clicked;
      }
      expect(counted).toEqual(story.beacons);
      for (const [, times] of story.deliveries) expect(times).toBe(1);
    }
  });
  await fc.assert(property, cases(interleavings));
});

test('a month’s cap is never passed by one and never refuses below: so many sends at once, as many as are left', async () => {
  const number = fc.integer({ min: 1, max: 40 });
  const property = fc.asyncProperty(number, number, number, async (sent, cap, more) => {
    const projectId = await database.createProject();
    const sends = sendStore(database.dynamo, projectTables(database.tables));
    const sentAt = new Date('2126-11-20T12:00:00Z');
    const begin = async () => {
      const notification = { projectId, id: randomUUID(), content: { title: 'T' }, sentAt };
      return { notification, outcome: await sends.begin(notification, cap) };
    };
    const atOnce = (times: number) => Promise.all(Array.from({ length: times }, begin));
    const begun = (all: Awaited<ReturnType<typeof atOnce>>) =>
      all.filter(({ outcome }) => outcome === 'begun').map(({ notification }) => notification);

    const first = begun(await atOnce(sent));
    expect(first).toHaveLength(Math.min(sent, cap));
    // Every other one is released, twice.
    const returned = first.filter((_, index) => index % 2 === 0);
    await Promise.all([...returned, ...returned].map((one) => sends.release(one, 'r')));
    const left = cap - (first.length - returned.length);
    expect(begun(await atOnce(more))).toHaveLength(Math.min(more, left));

    const { months, notifications } = await read(projectId);
    const right = first.length - returned.length + Math.min(more, left);
    expect([months.get('2126-11'), notifications.size]).toEqual([right, right]);
  });
  await fc.assert(property, cases(races, { endOnFailure: true }));
});
