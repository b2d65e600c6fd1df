import { createHash } from 'node:crypto';
import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { removeProject } from '../../../admin/store/project-removal.ts';
import type { ProjectTables } from '../../../contract/infrastructure/tables.ts';
import { projectTables } from '../../../contract/infrastructure/tables.ts';
import { noCounts } from '../../../contract/wire/counts.ts';
import type { ProjectRef } from '../../../contract/wire/project.ts';
import { audienceStore } from '../../../lambdas/store/audience.ts';
import { newParts, usedParts } from '../../../lambdas/store/counters.ts';
import { deliveriesOf } from '../../../lambdas/store/deliveries.ts';
import { endpointHash, positionCount } from '../../../lambdas/store/items.ts';
import {
  eventCounter,
  eventCounterStore,
  notificationStore,
} from '../../../lambdas/store/notifications.ts';
import { type NewNotification, sendStore } from '../../../lambdas/store/sends.ts';
import { sliceStore } from '../../../lambdas/store/slices.ts';
import { subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { type Database, startDatabase } from '../../fixtures/database.ts';
import { keyed } from '../../fixtures/known-project.ts';
import { Random } from '../time/random.ts';
import { MemoryDatabase, tables } from './memory-database.ts';

/** The simulation is as true as its database: the real one gives the same results. */

const sequences = 15;
const operationsPerSequence = 40;
const seed = Number(process.env.SEED ?? 1) || 1;

let real: Database;

beforeAll(async () => {
  real = await startDatabase();
});
afterAll(() => real.stop());

interface Stores {
  readonly dynamo: DynamoDBDocumentClient;
  readonly names: ProjectTables;
}

test('the stores do the same on the database in memory and on the real engine', async () => {
  const { tables: names } = real;
  const realNames = projectTables(names);
  for (let sequence = seed; sequence < seed + sequences; sequence += 1) {
    const random = new Random(sequence);
    const { projectId } = await real.createProject();
    const database = new MemoryDatabase({ now: () => 0, pageSizeItems: 3 });
    const memory = database.client();
    const ref = await copyProject(projectId, database, realNames);
    const both: readonly Stores[] = [
      { dynamo: real.dynamo, names: realNames },
      { dynamo: memory, names: tables },
    ];
    const done: string[] = [];
    for (let number = 0; number < operationsPerSequence; number += 1) {
      const [name, operation] = randomOperation(random, projectId, ref);
      done.push(name);
      const results = [];
      for (const stores of both) results.push(await resultOf(() => operation(stores)));
      expect({ done, result: results[0] }).not.toEqual({ done, result: invalidRequest });
      expect({ sequence, done, result: results[1] }).toEqual({
        sequence,
        done,
        result: results[0],
      });
    }
  }
}, 120_000);

/** A request that the database never accepts. */
const invalidRequest = 'threw ValidationException';

type Operation = readonly [name: string, (stores: Stores) => Promise<unknown>];

function randomOperation(random: Random, projectId: string, ref: ProjectRef): Operation {
  const href = () => `https://push.example/${random.integer(1, 12)}`;
  // The same one twice, too: a browser that passes from one user to another is read twice.
  const hrefs = [href(), href(), href()];
  const [first] = hrefs as [string];
  const userId = random.pick([undefined, 'ann', 'bob']);
  const channels = random.pick([undefined, ['news'], ['news', 'sales']]);
  const dayMs = 24 * 60 * 60 * 1000;
  const seenAt = random.pick([0, 100 * dayMs]);
  const chosen = random.pick([undefined, ['news'], ['sales', 'other']]);
  const conditions = {
    ...(chosen && { channels: chosen }),
    ...random.pick([{}, { seenWithinDays: 7 }]),
  };
  const read = { limit: 100, conditions, sentAt: 101 * dayMs };
  const send = newNotification(random, ref);
  const by = random.pick(['a', 'b']);
  const slice = random.integer(0, 1);
  const key = { notificationId: send.id, slice, expiresAt: 5_000_000_000 };
  const knownBy = random.pick([undefined, 'a', 'b']);
  const event = {
    kind: 'write' as const,
    id: { by, n: random.integer(1, 4) },
    known: knownBy === undefined ? undefined : { by: knownBy, n: random.integer(1, 4) },
    knowsStop: random.chance(0.3),
  };
  const write = {
    ...{ event, until: 5, isRead: random.chance(0.5) },
    position: random.integer(0, 3),
    claimed: random.integer(0, 3),
    counts: { ...noCounts, attempted: 2, failed: 2, failures: { throttled: 2 } },
    ended: random.pick([undefined, undefined, 'delivered'] as const),
  };
  const cap = random.pick([null, 3]);
  const hash = (href: string) => endpointHash(keyed(ref), href);
  const subscriberCap = random.pick([null, 3, 6]);
  const now = new Date('2099-11-20T13:00:00Z');
  const earlier = { requestHash: 'hash', sendId: send.id, ownedBy: by, ownedAt: 0 };
  const range = random.pick([
    { from: 0, to: positionCount },
    { from: 0, to: positionCount / 3 },
    { from: positionCount / 3, to: positionCount },
  ]);
  const operations: readonly Operation[] = [
    [
      `save ${first}`,
      (stores) => {
        const endpoint = { href: first, origin: 'https://push.example', path: first.slice(20) };
        const keys = { p256dh: new Uint8Array(65), auth: new Uint8Array(16) };
        const saved = { endpoint, keys, choice: { userId, channels } };
        return subscriptions(stores, seenAt).save(keyed(ref), saved, subscriberCap);
      },
    ],
    [`remove ${first}`, (stores) => subscriptions(stores).removeBatch(ref, [hash(first)])],
    [`removeBatch ${hrefs}`, (stores) => subscriptions(stores).removeBatch(ref, hrefs.map(hash))],
    [
      `removeOfEarlierPairs ${hrefs}`,
      (stores) => subscriptions(stores).removeOfEarlierPairs(ref, 1, hrefs.map(hash)),
    ],
    [`correctPair ${first}`, (stores) => subscriptions(stores).correctPair(ref, hash(first), 1)],
    ['count', ({ dynamo, names }) => usedParts(dynamo, names.usage)(ref, '2099-11')],
    [
      `everyone ${range.from}`,
      async ({ dynamo, names }) => {
        const store = audienceStore(dynamo, names.subscriptions);
        const found = await store.everyone(ref, range, { ...read, consistent: true });
        return sorted(found.recipients);
      },
    ],
    [
      `users ${userId}`,
      async ({ dynamo, names }) => {
        const store = audienceStore(dynamo, names.subscriptions);
        const range = { from: 0, to: 1 };
        const options = { ...read, consistent: false };
        return sorted((await store.users(ref, [userId ?? 'ann'], range, options)).recipients);
      },
    ],
    [
      `isOf ${first}`,
      ({ dynamo, names }) =>
        audienceStore(dynamo, names.subscriptions).isOf(ref, 'ann', hash(first)),
    ],
    [
      `begin ${send.id} by ${by}`,
      ({ dynamo, names }) => sendStore(dynamo, names).begin(send, by, cap),
    ],
    [
      `cancel ${send.id} by ${by}`,
      ({ dynamo, names }) => sendStore(dynamo, names).cancel(send, by),
    ],
    ['earlier', ({ dynamo, names }) => sendStore(dynamo, names).earlier(ref, 'key', now)],
    [
      `continue by ${by}`,
      ({ dynamo, names }) => sendStore(dynamo, names).continueSend(ref, 'key', earlier, 'c', now),
    ],
    [
      `find ${send.id}`,
      ({ dynamo, names }) =>
        notificationStore(dynamo, names.notifications, () => now).find(ref, send.id),
    ],
    [
      `write ${JSON.stringify([key, write])}`,
      ({ dynamo, names }) => sliceStore(dynamo, names.deliveries).write(key, write),
    ],
    [`stop ${send.id}`, ({ dynamo, names }) => sliceStore(dynamo, names.deliveries).stop(key, 7)],
    ['deliveries', ({ dynamo, names }) => deliveriesOf(dynamo, names.deliveries)([send])],
    [
      'create an event counter',
      ({ dynamo, names }) =>
        eventCounterStore(dynamo, names.deliveries).create(eventCounter(ref, send.id, 1, 5)),
    ],
    [
      'count an event',
      ({ dynamo, names }) =>
        eventCounterStore(dynamo, names.deliveries).count(ref, send.id, 1, 'shown'),
    ],
  ];
  if (random.chance(0.01)) {
    return [
      'remove the project',
      ({ dynamo, names }) => removeProject(dynamo, names, projectId, new Date('2099-11-20')),
    ];
  }
  return random.pick(operations);
}

function newNotification(random: Random, project: ProjectRef): NewNotification {
  const id = `notification-${random.integer(1, 4)}-of-${project}`;
  const keyHash = random.pick(['key', 'other']);
  return {
    ...{ project, id, content: { title: 'T', body: undefined } },
    division: {
      ...{ subscribers: 3, conditions: {}, slices: 2, countersPerSlice: 1 },
      respondedAsync: false,
    },
    sentAt: new Date('2099-11-20T12:00:00Z'),
    expiresAt: 5_000_000_000,
    keyed: random.pick([undefined, { keyHash, requestHash: 'hash' }]),
  };
}

function subscriptions({ dynamo, names }: Stores, nowMs = 0) {
  return subscriptionStore(
    dynamo,
    names,
    () => new Date(nowMs),
    () => 0.4,
  );
}

async function resultOf(operation: () => Promise<unknown>): Promise<unknown> {
  try {
    return (await operation()) ?? 'nothing';
  } catch (error) {
    return `threw ${(error as Error).name}`;
  }
}

/** Recipients by their endpoints, with what is read of them. */
function sorted(recipients: readonly object[]) {
  return recipients
    .map((recipient) => {
      const {
        endpointHash: hash,
        origin,
        path,
      } = recipient as {
        endpointHash: Uint8Array;
        origin: string;
        path: string;
      };
      return `${createHash('sha256').update(hash).digest('hex')} ${origin} ${path}`;
    })
    .sort();
}

async function copyProject(
  projectId: string,
  database: MemoryDatabase,
  names: Stores['names'],
): Promise<ProjectRef> {
  const { Item } = await real.dynamo.send(
    new GetCommand({ TableName: names.projects, Key: { projectId } }),
  );
  const ref = Item!.ref as ProjectRef;
  database.put(tables.projects, { projectId, ref });
  database.put(tables.vapidKeys, { projectId, privateKey: '' });
  for (const part of newParts({ project: ref })) database.put(tables.usage, { ...part });
  return ref;
}
