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

/** A table with items that belong to a project. */
interface OwnedTable {
  readonly kind?: keyof RemovedItems;
  readonly table: string;
  readonly keys: readonly [partitionKey: string, sortKey: string];
  /** The partitions of the project. */
  readonly partitions: readonly string[];
}

type Key = Readonly<Record<string, unknown>>;

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
  const parts = Array.from({ length: partCount }, (_, part) => projectPart(projectId, part));
  const own = [projectId];
  const ownedTables: readonly OwnedTable[] = [
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
    { table: tables.usage, keys: ['projectId', 'period'], partitions: own },
  ];

  await closeCounter(random(16).toString('hex'));
  const removed = { subscriptions: 0, notifications: 0 };
  const removalId = await currentRemoval();
  if (removalId === undefined) return removed;

  for (const owned of ownedTables) {
    for await (const keys of keysIn(owned)) {
      if (!(await deleteDuring(removalId, owned.table, keys))) return removed;
      if (owned.kind === undefined) continue;
      removed[owned.kind] += keys.filter(isCounted).length;
      onProgress({ ...removed });
    }
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

  /** The keys of the project's items in one table, page by page, without the subscriber counter. */
  async function* keysIn({ table, keys, partitions }: OwnedTable): AsyncGenerator<readonly Key[]> {
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
        yield Items.filter(({ period }) => !counterPeriods.includes(period));
      }
    }
  }

  /** @returns false if another call has finished the removal. Then nothing is deleted. */
  async function deleteDuring(
    removalId: string,
    table: string,
    keys: readonly Key[],
  ): Promise<boolean> {
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
