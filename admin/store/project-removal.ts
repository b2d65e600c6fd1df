import {
  BatchWriteCommand,
  type BatchWriteCommandInput,
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  paginateQuery,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import { type ProjectTables, tableKeys } from '../../contract/infrastructure/tables.ts';
import type { ProjectRef } from '../../contract/wire/project.ts';
import { monthsAround, partKeys } from '../../lambdas/store/counters.ts';
import {
  cancellationReasons,
  conditionFailed,
  isConditionFailure,
  type Sleep,
  sendAll,
} from '../../lambdas/store/dynamo.ts';
import {
  erasedPart,
  idempotencyId,
  type ProjectItem,
  partitionCount,
  projectPart,
  type RemovedProjectItem,
} from '../../lambdas/store/items.ts';
import { projectNotFound } from './registered-projects.ts';

/** How many items were deleted. */
export type RemovedItems = Readonly<Record<'subscriptions' | 'notifications', number>>;

type ItemKey = Readonly<Record<string, unknown>>;
type WriteRequests = readonly NonNullable<BatchWriteCommandInput['RequestItems']>[string][number][];

/** Keys of items of a project, in one table. */
interface OwnedPage {
  readonly kind?: keyof RemovedItems | undefined;
  readonly table: string;
  readonly keys: readonly ItemKey[];
}

export interface RemovalOptions {
  /** Only counts what would be deleted, also of an interrupted removal: reads all keys. */
  readonly dryRun?: boolean | undefined;
  /** Also removes the hashes of erased endpoints: the project never comes back. */
  readonly withErasures?: boolean | undefined;
  readonly onProgress?: (soFar: RemovedItems) => void;
  readonly wait?: Sleep;
}

/** Items of one BatchWriteItem: its maximum. */
const pageSizeItems = 25;

/**
 * Removes a project and all its items:
 *
 * 1. One transaction marks the project as removed, and deletes its keys and counters. From then on no
 *    subscription can be added and no notification sent.
 * 2. The other items are deleted page by page. No other project ever has them, whatever its id.
 * 3. The mark is deleted last. As long as it exists, a second call continues the removal.
 *
 * @throws {ServiceError} `project_not_found`.
 */
export async function removeProject(
  dynamo: DynamoDBDocumentClient,
  tables: ProjectTables,
  projectId: string,
  now: Date,
  { dryRun = false, withErasures = false, onProgress = () => {}, wait }: RemovalOptions = {},
): Promise<RemovedItems> {
  const ref = await findRef();
  if (!dryRun) await closeProject();
  const removed = { subscriptions: 0, notifications: 0 };
  for await (const page of ownedPages(dynamo, tables, ref, withErasures)) {
    if (!dryRun) await deletePage(page);
    if (page.kind !== undefined) removed[page.kind] += page.keys.filter(isCounted).length;
    onProgress(removed);
  }
  if (!dryRun) await deleteMark();
  return removed;

  /** The reference of the project, or of what is left of it. */
  async function findRef(): Promise<ProjectRef> {
    const { Item } = await dynamo.send(
      new GetCommand({ TableName: tables.projects, Key: { projectId }, ConsistentRead: true }),
    );
    if (Item === undefined) throw projectNotFound(projectId);
    return (Item as ProjectItem | RemovedProjectItem).ref;
  }

  /** Idempotent: another call may have the project by now. */
  async function closeProject(): Promise<void> {
    const mark: RemovedProjectItem = { projectId, ref, removed: true };
    const isSame = {
      ConditionExpression: '#ref = :ref',
      ExpressionAttributeNames: { '#ref': 'ref' },
      ExpressionAttributeValues: { ':ref': ref },
    };
    // In which a function may count a send, whatever its clock says.
    const parts = [...partKeys(ref), ...monthsAround(now).flatMap((month) => partKeys(ref, month))];
    try {
      await dynamo.send(
        new TransactWriteCommand({
          TransactItems: [
            { Put: { TableName: tables.projects, Item: mark, ...isSame } },
            { Delete: { TableName: tables.vapidKeys, Key: { projectId } } },
            { Delete: { TableName: tables.identityKeys, Key: { projectId } } },
            ...parts.map((Key) => ({ Delete: { TableName: tables.usage, Key } })),
          ],
        }),
      );
    } catch (error) {
      const [project] = cancellationReasons(error);
      throw conditionFailed(project) ? projectNotFound(projectId) : error;
    }
  }

  async function deletePage({ table, keys }: OwnedPage): Promise<void> {
    const requests: WriteRequests = keys.map((Key) => ({ DeleteRequest: { Key } }));
    const write = async (left: WriteRequests) => {
      const RequestItems = { [table]: [...left] };
      const { UnprocessedItems } = await dynamo.send(new BatchWriteCommand({ RequestItems }));
      return UnprocessedItems?.[table];
    };
    await sendAll(requests, write, wait);
  }

  async function deleteMark(): Promise<void> {
    try {
      await dynamo.send(
        new DeleteCommand({
          TableName: tables.projects,
          Key: { projectId },
          ConditionExpression: '#ref = :ref AND attribute_exists(removed)',
          ExpressionAttributeNames: { '#ref': 'ref' },
          ExpressionAttributeValues: { ':ref': ref },
        }),
      );
    } catch (error) {
      // Another call was faster.
      if (!isConditionFailure(error)) throw error;
    }
  }
}

/** The keys of all items that a project owns. */
async function* ownedPages(
  dynamo: DynamoDBDocumentClient,
  tables: ProjectTables,
  ref: ProjectRef,
  withErasures: boolean,
): AsyncGenerator<OwnedPage> {
  const parts = Array.from({ length: partitionCount }, (_, part) => projectPart(ref, part));
  const erased = withErasures ? parts.map((_, part) => erasedPart(ref, part)) : [];
  const owned = [
    { kind: 'subscriptions', table: 'subscriptions', partitions: parts },
    { kind: 'notifications', table: 'notifications', partitions: [ref] },
    { kind: undefined, table: 'subscriptions', partitions: erased },
    { kind: undefined, table: 'usage', partitions: [ref] },
  ] as const;
  for (const { kind, table, partitions } of owned) {
    const { partitionKey, sortKey } = tableKeys[table];
    for (const partition of partitions) {
      const pages = paginateQuery(
        { client: dynamo },
        {
          TableName: tables[table],
          KeyConditionExpression: '#partitionKey = :partition',
          ExpressionAttributeValues: { ':partition': partition },
          ProjectionExpression: '#partitionKey, #sortKey',
          ExpressionAttributeNames: { '#partitionKey': partitionKey, '#sortKey': sortKey },
          ConsistentRead: true,
          Limit: pageSizeItems,
        },
      );
      for await (const { Items = [] } of pages) {
        yield { kind, table: tables[table], keys: Items };
      }
    }
  }
}

/** The table of notifications also has the requests that used an `Idempotency-Key`. */
function isCounted({ notificationId }: ItemKey): boolean {
  return !String(notificationId).startsWith(idempotencyId(''));
}
