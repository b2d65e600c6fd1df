import {
  type DynamoDBDocumentClient,
  GetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { limits } from '../../contract/wire/limits.ts';
import type { ProjectRef } from '../../contract/wire/project.ts';
import {
  firstFrom,
  giveBackUnits,
  monthCounter,
  newParts,
  notificationPart,
  partExists,
  subscriberCounter,
  type TakenUnits,
  takeUnit,
} from './counters.ts';
import {
  attributeChanges,
  cancellationReasons,
  conditionFailed,
  isConditionFailure,
} from './dynamo.ts';
import {
  type CancelledItem,
  expiryAfterHours,
  type IdempotencyItem,
  idempotencyId,
  type NotificationItem,
  type SliceItem,
  sliceId,
} from './items.ts';
import { isSent, notSent, type StoredNotification, toStoredContent } from './notifications.ts';
import { cancelCondition } from './slices.ts';

/** A notification as it is about to be sent. */
export interface NewNotification extends StoredNotification {
  readonly project: ProjectRef;
  readonly keyed?: KeyedRequest | undefined;
}

/** A request with an `Idempotency-Key`. */
export interface KeyedRequest {
  /** SHA-256 of the key, hex. */
  readonly keyHash: string;
  /** Differs between requests that are not repetitions of each other. */
  readonly requestHash: string;
}

/** An earlier request with the same `Idempotency-Key`. */
export type EarlierRequest = Pick<
  IdempotencyItem,
  'requestHash' | 'sendId' | 'ownedBy' | 'ownedAt'
>;

interface SendTables {
  readonly notifications: string;
  readonly deliveries: string;
  readonly usage: string;
}

export type SendStore = ReturnType<typeof sendStore>;

/** Longer than the 10 minutes for which DynamoDB remembers a transaction's token. */
const cancelledForHours = 1;

/** Begins and cancels sends. */
export function sendStore(dynamo: DynamoDBDocumentClient, tables: SendTables) {
  return {
    /**
     * Takes one unit of the current UTC month and stores the notification: both or neither, and neither if the
     * project has just been deleted or the request repeats another.
     * @param by the request, which owns the send.
     * @param cap most notifications of the project in a month; null for no limit.
     * @returns `closed`: the project is paused, or its notifications are being counted.
     */
    async begin(
      notification: NewNotification,
      by: string,
      cap: number | null,
      abortSignal?: AbortSignal,
    ): Promise<'begun' | 'cap_reached' | 'closed' | 'project_gone' | 'repeated'> {
      const counter = monthOf(notification);
      const attempt = async (take: () => TakenUnits) => {
        try {
          // The SDK repeats it under one token, so a send whose response was lost counts once.
          await dynamo.send(
            new TransactWriteCommand({
              TransactItems: [
                { Update: take() },
                { Put: putNotification(notification) },
                ...putKey(notification, by),
              ],
            }),
            { abortSignal },
          );
          return 'begun';
        } catch (error) {
          const [unit, record, ...others] = cancellationReasons(error);
          // An earlier attempt of this call has arrived late.
          if (conditionFailed(record) && record?.Item?.content !== undefined) return 'begun';
          if (conditionFailed(unit) && unit?.Item === undefined) return 'no_month';
          if (others.some(conditionFailed)) return 'repeated';
          if (conditionFailed(unit)) return 'part_full';
          throw error;
        }
      };
      const choose = firstFrom(notificationPart(notification.id));
      const now = notification.sentAt.getTime();
      const begin = () => takeUnit(dynamo, counter, cap, choose, attempt, now, abortSignal);
      const outcome = await begin();
      if (outcome !== 'no_month') return outcome;
      if (!(await createMonth(notification, cap, abortSignal))) return 'project_gone';
      const second = await begin();
      return second === 'no_month' ? 'project_gone' : second;
    },

    /**
     * Undoes {@link begin} for a send that has attempted nobody, also if the response of `begin` was lost: afterwards
     * it has not happened, and cannot happen later. Idempotent. Does nothing for a project that was deleted meanwhile.
     * @param by the request that owns the send.
     * @returns false if it is kept: it was stopped meanwhile, or another invocation has it, and may have pushed.
     */
    async cancel(
      notification: NewNotification,
      by: string,
      signal?: AbortSignal,
    ): Promise<boolean> {
      for (;;) {
        const outcome = await undo(notification, by, signal);
        if (outcome !== 'missing') return outcome === 'undone';
        if (await preventBegin(notification, signal)) return true;
      }
    },

    /** Finds the earlier request with an `Idempotency-Key`. */
    async earlier(
      project: ProjectRef,
      keyHash: string,
      now: Date,
      abortSignal?: AbortSignal,
    ): Promise<EarlierRequest | undefined> {
      const { Item } = await dynamo.send(
        new GetCommand({
          TableName: tables.notifications,
          Key: keyOf(project, keyHash),
          ConsistentRead: true,
        }),
        { abortSignal },
      );
      const item = Item as IdempotencyItem | undefined;
      // TTL deletes late.
      return item !== undefined && item.expiresAt * 1000 > now.getTime() ? item : undefined;
    },

    /**
     * Makes a repeated request the owner of a send whose owner's time is over. From then on, the former one
     * cannot cancel the send.
     * @returns false if another repetition was faster.
     */
    async continueSend(
      project: ProjectRef,
      keyHash: string,
      { ownedBy: owner }: EarlierRequest,
      by: string,
      now: Date,
      abortSignal?: AbortSignal,
    ): Promise<boolean> {
      const change = { ownedBy: by, ownedAt: now.getTime() };
      try {
        await dynamo.send(
          new UpdateCommand({
            TableName: tables.notifications,
            Key: keyOf(project, keyHash),
            ConditionExpression: 'ownedBy = :owner',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
            ...attributeChanges(change, { conditionValues: { owner } }),
          }),
          { abortSignal },
        );
        return true;
      } catch (error) {
        if (!isConditionFailure(error)) throw error;
        // The SDK has repeated a write whose response was lost.
        return error.Item?.ownedBy === by;
      }
    },
  };

  function monthOf({ project, sentAt }: NewNotification) {
    return monthCounter(tables.usage, project, sentAt);
  }

  /** @returns whether the counter of the month exists now. It does not without the project. */
  async function createMonth(
    notification: NewNotification,
    cap: number | null,
    abortSignal: AbortSignal | undefined,
  ): Promise<boolean> {
    const TransactItems = [
      { ConditionCheck: projectExists(notification) },
      ...newParts(monthOf(notification), 0, cap).map(({ projectRef, period, ...units }) => ({
        Update: {
          TableName: tables.usage,
          Key: { projectRef, period },
          ConditionExpression: 'attribute_not_exists(period)',
          ...attributeChanges(units),
        },
      })),
    ];
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

  function projectExists({ project, id }: NewNotification) {
    return partExists(subscriberCounter(tables.usage, project), notificationPart(id));
  }

  function putNotification(notification: NewNotification) {
    const { project, id, content, division, sentAt, sentBy, test, expiresAt } = notification;
    const Item: NotificationItem = {
      projectRef: project,
      notificationId: id,
      content: toStoredContent(content),
      ...division,
      sentAt: sentAt.toISOString(),
      sentBy,
      test,
      expiresAt,
    };
    return {
      TableName: tables.notifications,
      Item,
      ConditionExpression: 'attribute_not_exists(notificationId)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    };
  }

  function putKey({ project, keyed, id, sentAt }: NewNotification, by: string) {
    if (keyed === undefined) return [];
    const now = Math.floor(sentAt.getTime() / 1000);
    const Item: IdempotencyItem = {
      ...keyOf(project, keyed.keyHash),
      requestHash: keyed.requestHash,
      sendId: id,
      ownedBy: by,
      ownedAt: sentAt.getTime(),
      expiresAt: now + limits.idempotencyHours * 60 * 60,
    };
    const Put = {
      TableName: tables.notifications,
      Item,
      // TTL deletes late: compare the time.
      ConditionExpression: 'attribute_not_exists(notificationId) OR expiresAt <= :now',
      ExpressionAttributeValues: { ':now': now },
    };
    return [{ Put }];
  }

  async function undo(
    notification: NewNotification,
    by: string,
    abortSignal: AbortSignal | undefined,
  ): Promise<'undone' | 'missing' | 'kept'> {
    const { project, keyed, id, division } = notification;
    const unit = giveBackUnits(monthOf(notification), notificationPart(id), 1);
    const close = Array.from({ length: division.slices }, (_, slice) => ({
      Update: closeSlice(sliceId(id, slice), by, notification),
    }));
    try {
      await dynamo.send(
        new TransactWriteCommand({
          TransactItems: [
            // In place of the notification, so that a `begin` that arrives later fails.
            { Put: putCancelled(notification, isSent) },
            // Any part will do: only the sum of the parts counts.
            { Update: unit },
            ...close,
            ...(keyed === undefined ? [] : [{ Delete: deleteKey(project, keyed.keyHash, by) }]),
          ],
        }),
        { abortSignal },
      );
      return 'undone';
    } catch (error) {
      const [record, month, ...others] = cancellationReasons(error);
      if (conditionFailed(record)) return 'missing';
      if (others.slice(0, division.slices).some(conditionFailed)) return 'kept';
      // The project is being removed.
      if (conditionFailed(month)) return 'undone';
      // Another request owns it.
      if (others.some(conditionFailed)) return 'kept';
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
    const TransactItems = [
      { ConditionCheck: projectExists(notification) },
      { Put: putCancelled(notification, notSent) },
    ];
    try {
      await dynamo.send(new TransactWriteCommand({ TransactItems }), { abortSignal });
      return true;
    } catch (error) {
      const [project, put] = cancellationReasons(error);
      if (conditionFailed(project)) return true;
      if (conditionFailed(put)) return false;
      throw error;
    }
  }

  function putCancelled({ project, id, sentAt }: NewNotification, ConditionExpression: string) {
    const Item: CancelledItem = {
      projectRef: project,
      notificationId: id,
      cancelled: true,
      expiresAt: expiryAfterHours(sentAt, cancelledForHours),
    };
    return { TableName: tables.notifications, Item, ConditionExpression };
  }

  /**
   * Closes a slice, so that nobody delivers it later. Fails if another invocation may have pushed to recipients of it,
   * or if it was stopped, which its owner was told.
   */
  function closeSlice(id: string, by: string, { division, expiresAt }: NewNotification) {
    const { expression, values } = cancelCondition(by, !division.respondedAsync);
    const closed: Partial<SliceItem> = {
      leasedBy: by,
      ended: 'cancelled',
      expiresAt,
    };
    return {
      TableName: tables.deliveries,
      Key: { id },
      ConditionExpression: expression,
      ...attributeChanges(closed, { conditionValues: values }),
    };
  }

  function deleteKey(project: ProjectRef, keyHash: string, by: string) {
    return {
      TableName: tables.notifications,
      Key: keyOf(project, keyHash),
      ConditionExpression: 'ownedBy = :owner',
      ExpressionAttributeValues: { ':owner': by },
    };
  }
}

function keyOf(projectRef: ProjectRef, keyHash: string) {
  return { projectRef, notificationId: idempotencyId(keyHash) };
}
