import {
  type DynamoDBDocumentClient,
  GetCommand,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import { isClosed, notificationPart, type TakenUnits, takeUnit } from './counters.ts';
import { cancellationReasons, conditionFailed } from './dynamo.ts';
import type { CancelledItem, IdempotencyItem } from './items.ts';
import { notificationStore, type StoredNotification } from './notifications.ts';
import {
  claimedTallies,
  closeShares,
  idempotencyItemKey,
  monthOf,
  type NewNotification,
  newIdempotencyItem,
  newMonth,
  notificationExists,
  notificationMissing,
  projectExists,
  putNotification,
  returnUnit,
  type SendTables,
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
   * Undoes {@link begin} for a send that ended before any push was attempted, also if the outcome of
   * begin is unknown because the database did not respond. Afterwards it has not happened, and cannot
   * happen later. Does nothing the second time, for a project that was deleted meanwhile, or if another
   * invocation has claimed a share and may have pushed.
   * @param by the invocation whose claim does not count.
   * @returns whether the notification was stopped meanwhile: then it is kept.
   */
  cancel(
    notification: NewNotification,
    by: string,
    signal?: AbortSignal,
  ): Promise<'stopped' | undefined>;

  /** Finds the request that used an `Idempotency-Key`. */
  earlier(
    projectId: string,
    keyHash: string,
    signal?: AbortSignal,
  ): Promise<EarlierSend | undefined>;
}

export interface EarlierSend {
  readonly requestHash: string;
  readonly notification: StoredNotification;
}

export function sendStore(dynamo: DynamoDBDocumentClient, tables: SendTables): SendStore {
  const notifications = notificationStore(dynamo, tables.notifications);

  return {
    async begin(notification, cap, abortSignal) {
      const counter = monthOf(tables, notification);
      const attempt = async (take: TakenUnits) => {
        try {
          // The SDK retries a transaction under the same token: a send whose response was lost is
          // counted once.
          await dynamo.send(
            new TransactWriteCommand({
              TransactItems: [
                { Update: take },
                { Put: putNotification(tables, notification) },
                ...(notification.idempotency
                  ? [{ Put: newIdempotencyItem(tables, notification, notification.idempotency) }]
                  : []),
                ...claimedTallies(tables, notification).map((Update) => ({ Update })),
              ],
            }),
            { abortSignal },
          );
          return 'begun';
        } catch (error) {
          const [unit, record, repetition] = cancellationReasons(error);
          // An earlier attempt of this call has arrived late.
          if (conditionFailed(record) && record?.Item?.content !== undefined) return 'begun';
          if (conditionFailed(unit) && isClosed(counter, unit?.Item)) return 'project_gone';
          if (conditionFailed(repetition)) return 'repeated';
          if (conditionFailed(unit)) return 'part_full';
          throw error;
        }
      };
      const part = notificationPart(notification.id);
      const begin = () => takeUnit(dynamo, counter, cap, part, attempt, abortSignal);
      const outcome = await begin();
      if (outcome !== 'project_gone') return outcome;
      // Or this is the first send of the month.
      return (await createMonth(notification, abortSignal)) ? begin() : outcome;
    },

    async cancel(notification, by, signal) {
      for (;;) {
        const outcome = await undo(notification, by, signal);
        if (outcome === 'stopped') return outcome;
        if (outcome === 'undone' || (await preventBegin(notification, signal))) return undefined;
      }
    },

    async earlier(projectId, keyHash, abortSignal) {
      const { Item } = await dynamo.send(
        new GetCommand({
          TableName: tables.notifications,
          Key: idempotencyItemKey(projectId, keyHash),
          ConsistentRead: true,
        }),
        { abortSignal },
      );
      if (Item === undefined) return undefined;
      const { requestHash, sendId } = Item as IdempotencyItem;
      const notification = await notifications.find(projectId, sendId, abortSignal);
      return notification && { requestHash, notification };
    },
  };

  /** @returns whether the counter of the month exists now. It does not without the project. */
  async function createMonth(
    notification: NewNotification,
    abortSignal: AbortSignal | undefined,
  ): Promise<boolean> {
    const TransactItems = newMonth(tables, notification);
    try {
      await dynamo.send(new TransactWriteCommand({ TransactItems }), { abortSignal });
      return true;
    } catch (error) {
      const [project, ...parts] = cancellationReasons(error);
      if (conditionFailed(project)) return false;
      if (parts.some(conditionFailed)) return true;
      throw error;
    }
  }

  /** `undone`: or this may not be done any more. */
  async function undo(
    notification: NewNotification,
    by: string,
    abortSignal: AbortSignal | undefined,
  ): Promise<'undone' | 'missing' | 'stopped'> {
    const { projectId, idempotency } = notification;
    const TableName = tables.notifications;
    const Item = cancelledItem(notification);
    try {
      await dynamo.send(
        new TransactWriteCommand({
          TransactItems: [
            // In its place, so that another attempt to begin, which arrives later, fails.
            { Put: { TableName, Item, ConditionExpression: notificationExists } },
            { Update: returnUnit(tables, notification) },
            ...(idempotency
              ? [{ Delete: { TableName, Key: idempotencyItemKey(projectId, idempotency.keyHash) } }]
              : []),
            ...closeShares(tables, notification, by).map((Update) => ({ Update })),
          ],
        }),
        { abortSignal },
      );
      return 'undone';
    } catch (error) {
      const [record, ...others] = cancellationReasons(error);
      if (conditionFailed(record)) return 'missing';
      if (others.some(({ Item }) => Item?.stoppedAt !== undefined)) return 'stopped';
      // Another invocation has claimed a share, or the project is being removed.
      if (others.some(conditionFailed)) return 'undone';
      throw error;
    }
  }

  /**
   * Takes the notification's key, so that a `begin` that arrives later fails.
   * @returns false if it has happened meanwhile.
   */
  async function preventBegin(
    notification: NewNotification,
    abortSignal: AbortSignal | undefined,
  ): Promise<boolean> {
    const { Item: _, ...put } = putNotification(tables, notification);
    const Item = cancelledItem(notification);
    try {
      await dynamo.send(
        new TransactWriteCommand({
          TransactItems: [
            { ConditionCheck: projectExists(tables, notification) },
            // Once more has no effect.
            { Put: { ...put, Item, ConditionExpression: notificationMissing } },
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
}

function cancelledItem({ projectId, id, sentAt }: NewNotification): CancelledItem {
  // Longer than the 10 minutes for which DynamoDB remembers a transaction's token.
  const expiresAt = Math.floor(sentAt.getTime() / 1000) + 60 * 60;
  return { projectId, notificationId: id, cancelled: true, expiresAt };
}
