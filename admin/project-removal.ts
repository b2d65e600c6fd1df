import {
  type DynamoDBDocumentClient,
  GetCommand,
  paginateQuery,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import { monthsAround } from '../lambdas/store/calendar.ts';
import { partPeriods, subscriberCounter } from '../lambdas/store/counters.ts';
import { cancellationReasons, conditionFailed } from '../lambdas/store/dynamo.ts';
import { type ClosedCounterItem, idempotencyId } from '../lambdas/store/items.ts';
import { partCount, projectPart } from '../lambdas/store/subscription-keys.ts';
import { ProjectNotFound } from './project-errors.ts';
import type { ProjectTables } from './project-tables.ts';
import type { RandomSource } from './secret-key.ts';

/** How many items were deleted. */
export type RemovedItems = Readonly<Record<'subscriptions' | 'notifications', number>>;

const noItems: RemovedItems = { subscriptions: 0, notifications: 0 };

type Key = Readonly<Record<string, unknown>>;

/** Keys of items of a project, in one table. */
interface OwnedPage {
  readonly kind?: keyof RemovedItems | undefined;
  readonly table: string;
  readonly keys: readonly Key[];
}

/** Items per transaction. DynamoDB's limit is 100, and one of them is the condition check. */
const pageSizeItems = 99;

/**
 * Removes a project and all its items:
 *
 * 1. One transaction deletes the project, its VAPID key and the counters of its months, and closes its
 *    subscriber counter. From then on no subscription can be added and no notification sent.
 * 2. The other items are deleted page by page.
 * 3. The closed counter is deleted last. As long as it exists, no project with this id can be
 *    created, and a second call continues the removal.
 *
 * @throws {ProjectNotFound}
 */
export async function removeProject(
  dynamo: DynamoDBDocumentClient,
  tables: ProjectTables,
  projectId: string,
  now: Date,
  random: RandomSource,
  onProgress: (soFar: RemovedItems) => void = () => {},
): Promise<RemovedItems> {
  const counterPeriods = partPeriods(subscriberCounter(tables.usage, projectId).name);
  // In which a function may count a send, whatever its clock says.
  const monthKeys = monthsAround(now)
    .flatMap(partPeriods)
    .map((period) => ({ projectId, period }));
  const counterKeys = counterPeriods.map((period) => ({ projectId, period }));
  /** The part that tells which removal has closed the counter. */
  const firstKey = counterKeys[0]!;

  await closeCounter(random(16).toString('hex'));
  let removed = noItems;
  const removalId = await currentRemoval();
  if (removalId === undefined) return removed;

  for await (const page of ownedPages(dynamo, tables, projectId)) {
    if (!(await deleteDuring(removalId, page))) return removed;
    removed = withPage(removed, page);
    onProgress(removed);
  }
  await deleteCounter(removalId);
  return removed;

  /** Deletes the project and its VAPID key and closes its counters. Idempotent. */
  async function closeCounter(newRemovalId: string): Promise<void> {
    try {
      await dynamo.send(
        new TransactWriteCommand({
          TransactItems: [
            { Delete: { TableName: tables.projects, Key: { projectId } } },
            { Delete: { TableName: tables.vapidKeys, Key: { projectId } } },
            { Delete: { TableName: tables.identityKeys, Key: { projectId } } },
            ...monthKeys.map((Key) => ({ Delete: { TableName: tables.usage, Key } })),
            ...counterKeys.map((Key) => ({
              Update: {
                TableName: tables.usage,
                Key,
                UpdateExpression: 'SET removal = if_not_exists(removal, :removal) REMOVE used',
                ConditionExpression: 'attribute_exists(projectId)',
                ExpressionAttributeValues: { ':removal': newRemovalId },
              },
            })),
          ],
        }),
      );
    } catch (error) {
      const counterMissing = cancellationReasons(error).some(conditionFailed);
      throw counterMissing ? new ProjectNotFound(projectId) : error;
    }
  }

  /** @returns undefined if another call has finished the removal. */
  async function currentRemoval(): Promise<string | undefined> {
    const { Item } = await dynamo.send(
      new GetCommand({ TableName: tables.usage, Key: firstKey, ConsistentRead: true }),
    );
    return (Item as Partial<ClosedCounterItem> | undefined)?.removal;
  }

  /** @returns false if another call has finished the removal. Then nothing is deleted. */
  async function deleteDuring(removalId: string, { table, keys }: OwnedPage): Promise<boolean> {
    if (keys.length === 0) return true;
    const check = { TableName: tables.usage, Key: firstKey, ...isClosedBy(removalId) };
    try {
      await dynamo.send(
        new TransactWriteCommand({
          TransactItems: [
            { ConditionCheck: check },
            ...keys.map((Key) => ({ Delete: { TableName: table, Key } })),
          ],
        }),
      );
      return true;
    } catch (error) {
      if (conditionFailed(cancellationReasons(error)[0])) return false;
      throw error;
    }
  }

  /** Deletes the closed counter. Idempotent. */
  async function deleteCounter(removalId: string): Promise<void> {
    const TransactItems = counterKeys.map((Key) => ({
      Delete: { TableName: tables.usage, Key, ...isClosedBy(removalId) },
    }));
    try {
      await dynamo.send(new TransactWriteCommand({ TransactItems }));
    } catch (error) {
      if (!cancellationReasons(error).some(conditionFailed)) throw error;
    }
  }
}

/**
 * Counts what {@link removeProject} would delete, also of an interrupted removal: reads all keys.
 * @throws {ProjectNotFound}
 */
export async function countItems(
  dynamo: DynamoDBDocumentClient,
  tables: ProjectTables,
  projectId: string,
  onProgress: (soFar: RemovedItems) => void = () => {},
): Promise<RemovedItems> {
  const [period] = partPeriods(subscriberCounter(tables.usage, projectId).name);
  const { Item: counter } = await dynamo.send(
    new GetCommand({ TableName: tables.usage, Key: { projectId, period }, ConsistentRead: true }),
  );
  if (counter === undefined) throw new ProjectNotFound(projectId);
  let counts = noItems;
  for await (const page of ownedPages(dynamo, tables, projectId)) {
    counts = withPage(counts, page);
    onProgress(counts);
  }
  return counts;
}

function withPage(counts: RemovedItems, { kind, keys }: OwnedPage): RemovedItems {
  if (kind === undefined) return counts;
  return { ...counts, [kind]: counts[kind] + keys.filter(isCounted).length };
}

/** The keys of all items of a project, without its subscriber counter. */
async function* ownedPages(
  dynamo: DynamoDBDocumentClient,
  tables: ProjectTables,
  projectId: string,
): AsyncGenerator<OwnedPage> {
  const counterPeriods = partPeriods(subscriberCounter(tables.usage, projectId).name);
  const parts = Array.from({ length: partCount }, (_, part) => projectPart(projectId, part));
  const own = [projectId];
  const ownedTables = [
    {
      kind: 'subscriptions',
      table: tables.subscriptions,
      keys: ['projectPart', 'endpointHash'],
      partitions: parts,
    },
    {
      kind: 'notifications',
      table: tables.notifications,
      keys: ['projectId', 'notificationId'],
      partitions: own,
    },
    { kind: undefined, table: tables.usage, keys: ['projectId', 'period'], partitions: own },
  ] as const;
  for (const { kind, table, keys, partitions } of ownedTables) {
    const [partitionKey, sortKey] = keys;
    for (const partition of partitions) {
      const pages = paginateQuery(
        { client: dynamo },
        {
          TableName: table,
          KeyConditionExpression: '#partitionKey = :partition',
          ExpressionAttributeValues: { ':partition': partition },
          ProjectionExpression: '#partitionKey, #sortKey',
          ExpressionAttributeNames: { '#partitionKey': partitionKey, '#sortKey': sortKey },
          ConsistentRead: true,
          Limit: pageSizeItems,
        },
      );
      for await (const { Items = [] } of pages) {
        yield { kind, table, keys: Items.filter(({ period }) => !counterPeriods.includes(period)) };
      }
    }
  }
}

/** The table of notifications also has the requests that used an `Idempotency-Key`. */
function isCounted({ notificationId }: Key): boolean {
  return !String(notificationId).startsWith(idempotencyId(''));
}

/** The condition that the part was closed by this removal. */
function isClosedBy(removalId: string) {
  return {
    ConditionExpression: 'removal = :removal',
    ExpressionAttributeValues: { ':removal': removalId },
  };
}
