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
   * Takes one unit of the current UTC month and stores the notification: both or neither, and
   * neither if the project has just been deleted or the request repeats another.
   * @param cap most notifications of the project in a month; null for no limit.
   */
  begin(
    notification: NewNotification,
    cap: number | null,
    signal?: AbortSignal,
  ): Promise<'begun' | 'cap_reached' | 'project_gone' | 'repeated'>;

  /**
   * Claims the delivery of a notification. Only one request gets true, also when it repeats the call;
   * only that request may push.
   */
  claim(
    notification: NewNotification,
    by: { readonly requestId: string; readonly at: Date },
    signal?: AbortSignal,
  ): Promise<boolean>;

  /**
   * Undoes {@link begin} for a send that ended before any push was attempted. Does nothing the second
   * time, for a project that was deleted meanwhile, or if another request has claimed the delivery.
   * @returns whether the notification existed.
   */
  release(notification: NewNotification, requestId: string, signal?: AbortSignal): Promise<boolean>;

  /**
   * Undoes a {@link begin} or {@link claim} whose outcome is unknown because the database did not
   * respond. Afterwards it has not happened, and cannot happen later.
   */
  cancel(notification: NewNotification, requestId: string, signal?: AbortSignal): Promise<void>;

  /** Stores a send's counts. Does nothing if the project was deleted meanwhile. */
  finish(projectId: string, result: SendResult, signal?: AbortSignal): Promise<void>;

  /** Finds the request that used an `Idempotency-Key`. */
  earlier(
    projectId: string,
    keyHash: string,
    signal?: AbortSignal,
  ): Promise<EarlierSend | undefined>;
}

export interface EarlierSend {
  /** The notification's id. */
  readonly id: string;
  readonly requestHash: string;
  readonly sentAt: Date;
  /** When a request claimed its delivery; absent before that. */
  readonly claimedAt?: Date | undefined;
  /** Its response; absent while it is in progress, and if it was interrupted. */
  readonly result?: SendResult | undefined;
}

export function sendStore(dynamo: DynamoDBDocumentClient, tables: SendTables): SendStore {
  const store: SendStore = {
    async begin(notification, cap, abortSignal) {
      try {
        // The SDK retries a transaction under the same token: a send whose response was lost is
        // counted once.
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
        if (await preventBegin(notification, signal)) return;
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
          // Otherwise it would create an item without an expiry.
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
   * Takes the notification's key, so that a `begin` that arrives later fails.
   * @returns false if it has happened meanwhile.
   */
  async function preventBegin(
    notification: NewNotification,
    abortSignal: AbortSignal | undefined,
  ): Promise<boolean> {
    const { Item, ...record } = newRecord(tables, notification);
    const { projectId, notificationId } = Item;
    // Longer than the 10 minutes for which DynamoDB remembers a transaction's token.
    const expiresAt = Math.floor(notification.sentAt.getTime() / 1000) + 60 * 60;
    const cancelled: CancelledItem = { projectId, notificationId, cancelled: true, expiresAt };
    try {
      await dynamo.send(
        new TransactWriteCommand({
          TransactItems: [
            { ConditionCheck: projectExists(tables, notification) },
            { Put: { ...record, Item: cancelled } },
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

  /** @returns false if the condition failed. */
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
