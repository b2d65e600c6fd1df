import { createHash } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { removeProject } from '../../../admin/project-removal.ts';
import { projectTables } from '../../../admin/project-tables.ts';
import { noCounts } from '../../../contract/counts.ts';
import { audienceStore } from '../../../lambdas/store/audience.ts';
import { newSubscriberParts } from '../../../lambdas/store/counters.ts';
import { notificationStore } from '../../../lambdas/store/notifications.ts';
import type { NewNotification } from '../../../lambdas/store/send-writes.ts';
import { sendStore } from '../../../lambdas/store/sends.ts';
import { endpointHash, positionCount } from '../../../lambdas/store/subscription-keys.ts';
import { subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { tallyStore } from '../../../lambdas/store/tallies.ts';
import { subscriberCount } from '../../../lambdas/store/usage.ts';
import { type Database, projectCreatedAt, startDatabase } from '../../fixtures/database.ts';
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
  readonly names: { -readonly [Table in keyof typeof tables]: string };
}

test('the stores do the same on the database in memory and on the real engine', async () => {
  const { tables: names } = real;
  const realNames = projectTables(names);
  for (let sequence = seed; sequence < seed + sequences; sequence += 1) {
    const random = new Random(sequence);
    const projectId = await real.createProject();
    const database = new MemoryDatabase({ now: () => 0, pageSizeItems: 3 });
    const memory = database.client();
    await copyProject(projectId, database, realNames);
    const both: readonly Stores[] = [
      { dynamo: real.dynamo, names: realNames },
      { dynamo: memory, names: tables },
    ];
    const done: string[] = [];
    for (let number = 0; number < operationsPerSequence; number += 1) {
      const [name, operation] = randomOperation(random, projectId);
      done.push(name);
      const results = [];
      for (const stores of both) results.push(await resultOf(() => operation(stores)));
      expect({ sequence, done, result: results[1] }).toEqual({
        sequence,
        done,
        result: results[0],
      });
    }
  }
}, 120_000);

type Operation = readonly [name: string, (stores: Stores) => Promise<unknown>];

function randomOperation(random: Random, projectId: string): Operation {
  const href = () => `https://push.example/${random.integer(1, 12)}`;
  const hrefs = [...new Set([href(), href(), href()])];
  const [first] = hrefs as [string];
  const userId = random.pick([undefined, 'ann', 'bob']);
  const channels = random.pick([undefined, ['news'], ['news', 'sales']]);
  const seenAt = random.pick([0, 1000]);
  const conditions = {
    channels: random.pick([undefined, ['news'], ['sales', 'other']]),
    seenSince: random.pick([undefined, 1000]),
  };
  const cap = random.pick([null, 3, 6]);
  const send = newNotification(random, projectId);
  const by = random.pick(['a', 'b']);
  const key = {
    ...{ projectId, notificationId: send.id },
    firstTally: random.integer(0, 1),
    expiresAt: 5_000_000_000,
  };
  const previousBy = random.pick([undefined, 'a', 'b']);
  const previous =
    previousBy === undefined ? undefined : { by: previousBy, step: random.integer(1, 4) };
  const writer = { by, previous, step: random.integer(1, 4) };
  const progress = {
    until: 5,
    position: random.integer(0, 3),
    pending: random.integer(0, 3),
    counts: { ...noCounts, attempted: 2, failed: 2, failures: { throttled: 2 } },
    ended: random.pick([undefined, undefined, 'complete'] as const),
  };
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
        const saved = { endpoint, keys, userId, channels };
        return subscriptions(stores, seenAt).save(projectId, saved, cap);
      },
    ],
    [`remove ${first}`, (stores) => subscriptions(stores).remove(projectId, first)],
    [
      `removeBatch ${hrefs}`,
      (stores) => subscriptions(stores).removeBatch(projectId, hrefs.map(endpointHash)),
    ],
    ['count', ({ dynamo, names }) => subscriberCount(dynamo, names.usage)(projectId)],
    [
      `everyone ${range.from}`,
      async ({ dynamo, names }) => {
        const options = { limit: 100, consistent: true, ...conditions };
        const store = audienceStore(dynamo, names.subscriptions);
        return sorted((await store.everyone(projectId, range, options)).recipients);
      },
    ],
    [
      `users ${userId}`,
      async ({ dynamo, names }) => {
        const options = { limit: 100, consistent: false, ...conditions };
        const store = audienceStore(dynamo, names.subscriptions);
        const range = { from: 0, to: 1 };
        return sorted((await store.users(projectId, [userId ?? 'ann'], range, options)).recipients);
      },
    ],
    [
      `begin ${send.id}`,
      ({ dynamo, names }) => sendStore(dynamo, names).begin(send, random.pick([null, 3])),
    ],
    [
      `cancel ${send.id} by ${by}`,
      ({ dynamo, names }) => sendStore(dynamo, names).cancel(send, by),
    ],
    [
      `earlier ${send.idempotency?.keyHash}`,
      ({ dynamo, names }) => sendStore(dynamo, names).earlier(projectId, 'key'),
    ],
    [
      `find ${send.id}`,
      ({ dynamo, names }) =>
        notificationStore(dynamo, names.notifications).find(projectId, send.id),
    ],
    [
      `save ${JSON.stringify([key, writer])}`,
      ({ dynamo, names }) => tallyStore(dynamo, names.tallies).save(key, writer, progress),
    ],
    ['open', ({ dynamo, names }) => tallyStore(dynamo, names.tallies).open(key, 2)],
    [
      'find tallies',
      ({ dynamo, names }) => tallyStore(dynamo, names.tallies).find(key.notificationId, [0, 1, 2]),
    ],
    [
      'count an event',
      ({ dynamo, names }) =>
        tallyStore(dynamo, names.tallies).count(projectId, key.notificationId, 2, 'shown'),
    ],
  ];
  if (random.chance(0.01)) {
    const bytes = (length: number) => Buffer.alloc(length);
    return [
      'remove the project',
      ({ dynamo, names }) => removeProject(dynamo, names, projectId, new Date('2099-11-20'), bytes),
    ];
  }
  const operation = random.pick(operations);
  // Each store must draw the same cap.
  const isCapped = random.chance(0.5);
  if (!operation[0].startsWith('begin')) return operation;
  return [
    operation[0],
    ({ dynamo, names }) => sendStore(dynamo, names).begin(send, isCapped ? 3 : null),
  ];
}

function newNotification(random: Random, projectId: string): NewNotification {
  const id = `notification-${random.integer(1, 4)}-of-${projectId}`;
  const keyHash = random.pick(['key', 'other']);
  return {
    ...{ projectId, projectCreatedAt, id, content: { title: 'T', body: undefined } },
    division: { subscribers: 3, shares: 2, talliesPerShare: 1, respondedAsync: false },
    sentAt: new Date('2099-11-20T12:00:00Z'),
    idempotency: random.pick([undefined, { keyHash, requestHash: 'hash' }]),
  };
}

function subscriptions({ dynamo, names }: Stores, nowMs = 0) {
  return subscriptionStore(dynamo, names, () => new Date(nowMs));
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
): Promise<void> {
  database.put(tables.projects, {
    ...{ projectId, name: names.projects },
    createdAt: projectCreatedAt,
  });
  database.put(tables.vapidKeys, { projectId, privateKey: '' });
  const parts = newSubscriberParts({ projectId, createdAt: projectCreatedAt });
  for (const part of parts) database.put(tables.usage, { ...part });
}
