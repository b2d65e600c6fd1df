import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import { limitOf, type Project } from '../../contract/project.ts';
import { cancellationReasons, conditionFailed } from '../../lambdas/store/dynamo.ts';
import type { SubscriptionItem, UsageItem } from '../../lambdas/store/items.ts';
import type { ProjectStore } from '../../lambdas/store/projects.ts';
import {
  endpointHash,
  partOf,
  projectUser,
  subscriberPeriod,
  subscriptionKey,
} from '../../lambdas/store/subscription-keys.ts';
import { ProjectNotFound } from '../project-errors.ts';
import type { ImportedSubscription } from './line.ts';

/** Subscriptions of one transaction. DynamoDB's limit is 100 items, and one of them is the counter. */
export const importBatchSize = 99;

/** What became of the subscriptions of a batch. */
export interface ImportCounts {
  readonly created: number;
  readonly updated: number;
  /** They are stored like this, or with a later `updatedAt`. */
  readonly unchanged: number;
  /** The project's subscriber cap rejected them. */
  readonly overCap: number;
}

/**
 * Stores subscriptions of one part of a project, with different endpoints, as far as its subscriber cap allows.
 * New subscriptions and their count are one transaction: interrupted anywhere, the counters are exact, and the
 * same call again stores the rest.
 *
 * A line without a user id keeps the stored one.
 * @throws {ProjectNotFound}
 */
export type ImportBatch = (
  projectId: string,
  batch: readonly ImportedSubscription[],
) => Promise<ImportCounts>;

interface Line {
  readonly hash: Uint8Array;
  readonly subscription: ImportedSubscription;
}

/** What was in the tables when a batch was looked up. */
interface Stored {
  /** By endpoint hash in hex. */
  readonly items: ReadonlyMap<string, SubscriptionItem>;
  /** How many more subscribers the project may have. */
  readonly room: number;
}

/**
 * @param deployedCap most subscribers where a project's plan sets no cap.
 * @param projects remembers a project only as long as functions do, so that an import follows a change of the plan.
 */
export function batchImport(
  dynamo: DynamoDBDocumentClient,
  tables: { readonly subscriptions: string; readonly usage: string },
  projects: ProjectStore,
  deployedCap: number,
  clock: () => Date,
): ImportBatch {
  // Whether the batch before was partly stored already, as in a repeated import, or met the cap. Then a look-up
  // is cheaper than a write that fails.
  let startsWithLookUp = false;
  return async (projectId, batch) => {
    const lines = batch.map((subscription) => ({
      hash: endpointHash(subscription.endpoint.href),
      subscription,
    }));
    let stored: Stored | undefined;
    for (;;) {
      const project = await projects.find(projectId);
      if (project === undefined) throw new ProjectNotFound(projectId);
      if (startsWithLookUp || stored !== undefined) {
        stored = await lookUp(project, lines);
        startsWithLookUp = stored.items.size > 0 || stored.room < lines.length;
      } else {
        stored = { items: new Map(), room: lines.length };
      }
      const counts = await write(project, lines, stored);
      if (counts !== undefined) return counts;
    }
  };

  /** @returns undefined, and nothing is written, unless `stored` is what is in the tables. */
  async function write(
    project: Project,
    lines: readonly Line[],
    { items, room }: Stored,
  ): Promise<ImportCounts | undefined> {
    const isStored = ({ hash }: Line) => items.has(hex(hash));
    const missing = lines.filter((line) => !isStored(line));
    const added = missing.slice(0, room);
    const known = lines.filter(isStored);
    const changed = known.filter(({ hash, subscription }) =>
      changes(project, items.get(hex(hash))!, subscription),
    );
    const TransactItems = [
      ...added.map((line) => put(project, line)),
      ...changed.map((line) => update(project, line)),
      ...(added.length > 0 ? [increment(project, added)] : []),
    ];
    try {
      if (TransactItems.length > 0) await dynamo.send(new TransactWriteCommand({ TransactItems }));
    } catch (error) {
      if (cancellationReasons(error).some(conditionFailed)) return undefined;
      throw error;
    }
    return {
      created: added.length,
      updated: changed.length,
      unchanged: known.length - changed.length,
      overCap: missing.length - added.length,
    };
  }

  async function lookUp(project: Project, lines: readonly Line[]): Promise<Stored> {
    const [items, room] = await Promise.all([readItems(project, lines), readRoom(project, lines)]);
    return { items: new Map(items.map((item) => [hex(item.endpointHash), item])), room };
  }

  async function readItems({ projectId }: Project, lines: readonly Line[]) {
    const items: SubscriptionItem[] = [];
    let keys: Record<string, unknown>[] = lines.map(({ hash }) => subscriptionKey(projectId, hash));
    while (keys.length > 0) {
      const { Responses, UnprocessedKeys } = await dynamo.send(
        new BatchGetCommand({
          RequestItems: { [tables.subscriptions]: { Keys: keys, ConsistentRead: true } },
        }),
      );
      items.push(...((Responses?.[tables.subscriptions] ?? []) as SubscriptionItem[]));
      keys = UnprocessedKeys?.[tables.subscriptions]?.Keys ?? [];
    }
    return items;
  }

  /** @throws {ProjectNotFound} if the project is being removed. */
  async function readRoom(project: Project, lines: readonly Line[]): Promise<number> {
    const { Item } = await dynamo.send(
      new GetCommand({
        TableName: tables.usage,
        Key: counterKey(project, lines),
        ConsistentRead: true,
      }),
    );
    const used = (Item as Partial<UsageItem> | undefined)?.used;
    if (used === undefined) throw new ProjectNotFound(project.projectId);
    const cap = capOf(project);
    return cap === null ? lines.length : Math.max(0, cap - used);
  }

  function capOf({ plan }: Project): number | null {
    return limitOf(plan.subscriberCap, deployedCap);
  }

  function put({ projectId }: Project, { hash, subscription }: Line) {
    const { endpoint, keys, userId, createdAt, updatedAt } = subscription;
    const now = clock().getTime();
    const Item: SubscriptionItem = {
      ...subscriptionKey(projectId, hash),
      origin: endpoint.origin,
      path: endpoint.path,
      ...keys,
      ...(userId === undefined ? {} : { projectUser: projectUser(projectId, userId) }),
      createdAt: createdAt ?? now,
      updatedAt: updatedAt ?? now,
    };
    return {
      Put: {
        TableName: tables.subscriptions,
        Item,
        ConditionExpression: 'attribute_not_exists(endpointHash)',
      },
    };
  }

  function update({ projectId }: Project, { hash, subscription }: Line) {
    const { keys, userId, updatedAt } = subscription;
    return {
      Update: {
        TableName: tables.subscriptions,
        Key: subscriptionKey(projectId, hash),
        UpdateExpression: `SET p256dh = :p256dh, #auth = :auth, updatedAt = :updatedAt${userId === undefined ? '' : ', projectUser = :user'}`,
        ConditionExpression: 'attribute_exists(endpointHash)',
        ExpressionAttributeNames: { '#auth': 'auth' },
        ExpressionAttributeValues: {
          ':p256dh': keys.p256dh,
          ':auth': keys.auth,
          ':updatedAt': updatedAt ?? clock().getTime(),
          ':user': userId === undefined ? undefined : projectUser(projectId, userId),
        },
      },
    };
  }

  function increment(project: Project, added: readonly Line[]) {
    const cap = capOf(project);
    return {
      Update: {
        TableName: tables.usage,
        Key: counterKey(project, added),
        UpdateExpression: 'SET used = used + :added',
        // The attribute exists as long as the project does.
        ConditionExpression:
          cap === null ? 'attribute_exists(used)' : 'attribute_exists(used) AND used <= :most',
        ExpressionAttributeValues: {
          ':added': added.length,
          ':most': cap === null ? undefined : cap - added.length,
        },
      },
    };
  }
}

/** The counter of a batch: all its lines are of one part. */
function counterKey({ projectId, subscriberCounter }: Project, lines: readonly Line[]) {
  return { projectId, period: subscriberPeriod(subscriberCounter, partOf(lines[0]!.hash)) };
}

/** Whether a line says something else about a subscription than what is stored, and not something older. */
function changes(
  { projectId }: Project,
  item: SubscriptionItem,
  { keys, userId, updatedAt = Number.POSITIVE_INFINITY }: ImportedSubscription,
): boolean {
  if (updatedAt < item.updatedAt) return false;
  return !(
    Buffer.from(item.p256dh).equals(keys.p256dh) &&
    Buffer.from(item.auth).equals(keys.auth) &&
    (userId === undefined || item.projectUser === projectUser(projectId, userId))
  );
}

function hex(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex');
}
