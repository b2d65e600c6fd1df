import {
  type DynamoDBDocumentClient,
  GetCommand,
  TransactWriteCommand,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import type { SendResult } from '../../contract/schemas.ts';
import { cancellationReasons, conditionFailed, isConditionFailure } from './dynamo.ts';
import type { CancelledItem, IdempotencyItem, NotificationItem } from './items.ts';
import {
  claimableBy,
  idempotencyItemKey,
  type NewNotification,
  newIdempotencyItem,
  newRecord,
  projectExists,
  type RecordKey,
  recordExists,
  resultOf,
  returnUnit,
  type SendTables,
  takeUnit,
} from './send-writes.ts';

export interface SendStore {
  /**
   * Takes one unit of the present UTC month and makes the notification's record, both or neither,
   * and neither for a project that has just been deleted or a request that repeats another.
   * @param cap most notifications the project may send this month; null for no limit.
   */
  begin(
    notification: NewNotification,
    cap: number | null,
    signal?: AbortSignal,
  ): Promise<'begun' | 'cap_reached' | 'project_gone' | 'repeated'>;

  /**
   * Takes a notification for delivery. One request gets true, however many ask and however often
   * it repeats the call; only that one may push.
   */
  claim(
    notification: NewNotification,
    by: { readonly requestId: string; readonly at: Date },
    signal?: AbortSignal,
  ): Promise<boolean>;

  /**
   * Undoes {@link begin}, for a send that ended before any push was attempted: once, however often
   * it is called, and not at all for a project deleted meanwhile or a notification that another
   * request has claimed.
   * @returns whether there was a notification.
   */
  release(notification: NewNotification, requestId: string, signal?: AbortSignal): Promise<boolean>;

  /**
   * Undoes a {@link begin} or {@link claim} whose outcome is unknown, because the database did not
   * answer. Afterwards it has not happened, and cannot happen later either.
   */
  cancel(notification: NewNotification, requestId: string, signal?: AbortSignal): Promise<void>;

  /** Adds a send's counts to its record, unless that went with its project meanwhile. */
  finish(projectId: string, result: SendResult, signal?: AbortSignal): Promise<void>;

  /** Finds the request that a key stands for. */
  earlier(
    projectId: string,
    keyHash: string,
    signal?: AbortSignal,
  ): Promise<EarlierSend | undefined>;
}

export interface EarlierSend {
  /** Of its notification. */
  readonly id: string;
  readonly requestHash: string;
  readonly sentAt: Date;
  /** When a request began to deliver it; absent where none has. */
  readonly claimedAt?: Date | undefined;
  /** Its response; absent while it is under way, and where it broke off. */
  readonly result?: SendResult | undefined;
}

export function sendStore(dynamo: DynamoDBDocumentClient, tables: SendTables): SendStore {
  const store: SendStore = {
    async begin(notification, cap, abortSignal) {
      try {
        // A transaction is sent again under the same token where its answer was lost: a plain
        // counter would count such a send twice.
        await dynamo.send(
          new TransactWriteCommand({
            TransactItems: [
              { Update: takeUnit(tables, notification, cap) },
              { ConditionCheck: projectExists(tables, notification) },
              { Put: newRecord(tables, notification) },
              ...(notification.idempotency
                ? [{ Put: newIdempotencyItem(tables, notification, notification.idempotency) }]
                : []),
            ],
          }),
          { abortSignal },
        );
        return 'begun';
      } catch (error) {
        const [unit, project, , repetition] = cancellationReasons(error);
        if (conditionFailed(project)) return 'project_gone';
        if (conditionFailed(repetition)) return 'repeated';
        if (conditionFailed(unit)) return 'cap_reached';
        throw error;
      }
    },

    async claim({ projectId, id }, { requestId, at }, abortSignal) {
      return update(
        { projectId, notificationId: id },
        {
          UpdateExpression: 'SET claimedBy = :requestId, claimedAt = :at',
          ConditionExpression: `${recordExists} AND ${claimableBy}`,
          ExpressionAttributeValues: { ':requestId': requestId, ':at': at.toISOString() },
        },
        abortSignal,
      );
    },

    async release(notification, requestId, abortSignal) {
      const { projectId, id, idempotency } = notification;
      const record = { TableName: tables.notifications, Key: { projectId, notificationId: id } };
      try {
        await dynamo.send(
          new TransactWriteCommand({
            TransactItems: [
              {
                Delete: {
                  ...record,
                  ConditionExpression: `${recordExists} AND ${claimableBy}`,
                  ExpressionAttributeValues: { ':requestId': requestId },
                  ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
                },
              },
              { Update: returnUnit(tables, notification) },
              ...(idempotency
                ? [
                    {
                      Delete: {
                        ...record,
                        Key: idempotencyItemKey(projectId, idempotency.keyHash),
                      },
                    },
                  ]
                : []),
            ],
          }),
          { abortSignal },
        );
        return true;
      } catch (error) {
        const [deletion] = cancellationReasons(error);
        if (conditionFailed(deletion)) return deletion?.Item !== undefined;
        throw error;
      }
    },

    async cancel(notification, requestId, signal) {
      while (!(await store.release(notification, requestId, signal))) {
        if (await bar(notification, signal)) return;
      }
    },

    async earlier(projectId, keyHash, signal) {
      const repetition = (await find(idempotencyItemKey(projectId, keyHash), signal)) as
        | IdempotencyItem
        | undefined;
      if (repetition === undefined) return undefined;
      const { requestHash, sentAt, sendId: id } = repetition;
      const record = (await find({ projectId, notificationId: id }, signal)) as
        | NotificationItem
        | undefined;
      return {
        id,
        requestHash,
        sentAt: new Date(sentAt),
        claimedAt: record?.claimedAt === undefined ? undefined : new Date(record.claimedAt),
        result: record && resultOf(record),
      };
    },

    async finish(projectId, { id, ...counts }, signal) {
      const known = Object.entries(counts).filter(([, count]) => count !== undefined);
      const names = known.map(([name]) => name);
      await update(
        { projectId, notificationId: id },
        {
          UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
          // Or an item would be left that nothing ever deletes.
          ConditionExpression: recordExists,
          ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
          ExpressionAttributeValues: Object.fromEntries(
            known.map(([name, count]) => [`:${name}`, count]),
          ),
        },
        signal,
      );
    },
  };
  return store;

  /**
   * Takes the notification's key, so that a `begin` that is still on its way fails.
   * @returns false where that one has happened meanwhile.
   */
  async function bar(
    notification: NewNotification,
    abortSignal: AbortSignal | undefined,
  ): Promise<boolean> {
    const { Item, ...record } = newRecord(tables, notification);
    const { projectId, notificationId } = Item;
    // DynamoDB knows a transaction's token for 10 minutes; nothing of it can come later.
    const expiresAt = Math.floor(notification.sentAt.getTime() / 1000) + 60 * 60;
    const barred: CancelledItem = { projectId, notificationId, barred: true, expiresAt };
    try {
      await dynamo.send(
        new TransactWriteCommand({
          TransactItems: [
            { ConditionCheck: projectExists(tables, notification) },
            { Put: { ...record, Item: barred } },
          ],
        }),
        { abortSignal },
      );
      return true;
    } catch (error) {
      const [project, put] = cancellationReasons(error);
      if (conditionFailed(project)) return true;
      if (conditionFailed(put)) return false;
      throw error;
    }
  }

  /** @returns whether the condition held. */
  async function update(
    Key: RecordKey,
    change: Omit<UpdateCommandInput, 'TableName' | 'Key'>,
    abortSignal: AbortSignal | undefined,
  ): Promise<boolean> {
    const TableName = tables.notifications;
    try {
      await dynamo.send(new UpdateCommand({ TableName, Key, ...change }), { abortSignal });
      return true;
    } catch (error) {
      if (isConditionFailure(error)) return false;
      throw error;
    }
  }

  async function find(Key: RecordKey, abortSignal: AbortSignal | undefined) {
    const { Item } = await dynamo.send(
      new GetCommand({ TableName: tables.notifications, Key, ConsistentRead: true }),
      { abortSignal },
    );
    return Item;
  }
}
