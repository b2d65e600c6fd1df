import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import {
  cancellationReasons,
  conditionFailed,
  isConditionFailure,
} from '../lambdas/store/dynamo.ts';
import { type ClosedCounterItem, subscribersPeriod } from '../lambdas/store/items.ts';
import { ProjectNotFound } from './project-errors.ts';
import type { ProjectTables } from './project-tables.ts';
import type { RandomSource } from './secret-key.ts';

/** Items that a removal has deleted, by table; the project's own is not among them. */
export type RemovedItems = Readonly<Record<OwnedTable['kind'], number>>;

/** A table that holds items of a project besides the project itself. */
interface OwnedTable {
  readonly kind: 'subscriptions' | 'notifications' | 'usage';
  readonly table: string;
  readonly sortKey: string;
}

interface Key {
  readonly projectId: string;
  readonly [sortKey: string]: string;
}

/** Items deleted at once: a transaction takes 100, one of which checks the removal. */
const pageSizeItems = 99;

/**
 * Removes a project and everything that belongs to it. The first transaction deletes the project
 * and its key and closes its counter, after which no subscription can be added. The other items
 * follow page by page, and the closed counter last. While the closed counter is there, no project
 * with this id can be created, and another call continues the same removal.
 * @throws {ProjectNotFound}
 */
export async function removeProject(
  dynamo: DynamoDBDocumentClient,
  tables: ProjectTables,
  projectId: string,
  random: RandomSource,
  onProgress: (soFar: RemovedItems) => void = () => {},
): Promise<RemovedItems> {
  const counterKey = { projectId, period: subscribersPeriod };
  const ownedTables: readonly OwnedTable[] = [
    { kind: 'subscriptions', table: tables.subscriptions, sortKey: 'endpointHash' },
    { kind: 'notifications', table: tables.notifications, sortKey: 'notificationId' },
    { kind: 'usage', table: tables.usage, sortKey: 'period' },
  ];

  await close(random(16).toString('hex'));
  const removed = { subscriptions: 0, notifications: 0, usage: 0 };
  const removalId = await currentRemoval();
  if (removalId === undefined) return removed;

  for (const owned of ownedTables) {
    for await (const keys of keysIn(owned)) {
      if (!(await deleteDuring(removalId, owned.table, keys))) return removed;
      removed[owned.kind] += keys.length;
      onProgress({ ...removed });
    }
  }
  await end(removalId);
  return removed;

  /** Deletes the project and its key and closes its counter, unless that has been done already. */
  async function close(newRemovalId: string): Promise<void> {
    try {
      await dynamo.send(
        new TransactWriteCommand({
          TransactItems: [
            { Delete: { TableName: tables.projects, Key: { projectId } } },
            { Delete: { TableName: tables.vapidKeys, Key: { projectId } } },
            {
              Update: {
                TableName: tables.usage,
                Key: counterKey,
                UpdateExpression: 'SET removal = if_not_exists(removal, :removal) REMOVE used',
                ConditionExpression: 'attribute_exists(projectId)',
                ExpressionAttributeValues: { ':removal': newRemovalId },
              },
            },
          ],
        }),
      );
    } catch (error) {
      const isAbsent = cancellationReasons(error).some(conditionFailed);
      throw isAbsent ? new ProjectNotFound(projectId) : error;
    }
  }

  /** @returns undefined if another call has ended the removal since. */
  async function currentRemoval(): Promise<string | undefined> {
    const { Item } = await dynamo.send(
      new GetCommand({ TableName: tables.usage, Key: counterKey, ConsistentRead: true }),
    );
    return (Item as Partial<ClosedCounterItem> | undefined)?.removal;
  }

  /** The project's keys in one table, page by page, without its counter's. */
  async function* keysIn({ table, sortKey }: OwnedTable): AsyncGenerator<readonly Key[]> {
    let from: Record<string, unknown> | undefined;
    do {
      const page = await dynamo.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: 'projectId = :projectId',
          ExpressionAttributeValues: { ':projectId': projectId },
          ProjectionExpression: 'projectId, #sortKey',
          ExpressionAttributeNames: { '#sortKey': sortKey },
          ConsistentRead: true,
          Limit: pageSizeItems,
          ...(from && { ExclusiveStartKey: from }),
        }),
      );
      const keys = (page.Items ?? []) as Key[];
      yield keys.filter(({ period }) => period !== subscribersPeriod);
      from = page.LastEvaluatedKey;
    } while (from);
  }

  /** @returns false, with nothing deleted, if another call has ended the removal. */
  async function deleteDuring(
    removalId: string,
    table: string,
    keys: readonly Key[],
  ): Promise<boolean> {
    if (keys.length === 0) return true;
    const check = { TableName: tables.usage, Key: counterKey, ...isClosedBy(removalId) };
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

  /** Deletes the closed counter, unless another call has done so. */
  async function end(removalId: string): Promise<void> {
    try {
      await dynamo.send(
        new DeleteCommand({ TableName: tables.usage, Key: counterKey, ...isClosedBy(removalId) }),
      );
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
    }
  }
}

/** The condition that this removal, and no other, has closed the counter. */
function isClosedBy(removalId: string) {
  return {
    ConditionExpression: 'removal = :removal',
    ExpressionAttributeValues: { ':removal': removalId },
  };
}
