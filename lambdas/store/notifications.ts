import {
  type DynamoDBDocumentClient,
  GetCommand,
  TransactWriteCommand,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { limits } from '../../contract/limits.ts';
import type { BeaconType, NotificationContent, SendResult } from '../../contract/schemas.ts';
import { cancellationReasons, conditionFailed, isConditionFailure } from './dynamo.ts';
import {
  type BarredItem,
  type NotificationItem,
  type RepetitionItem,
  repetitionId,
} from './items.ts';

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

export interface NewNotification {
  readonly projectId: string;
  readonly id: string;
  readonly content: NotificationContent;
  readonly sentAt: Date;
  readonly idempotency?: Idempotency | undefined;
}

/** A caller's name for a request and its repetitions, and what tells them from others. */
export interface Idempotency {
  /** SHA-256 of the caller's key, hex. */
  readonly keyHash: string;
  /** SHA-256 of the request, hex. */
  readonly requestHash: string;
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

interface SendTables {
  readonly projects: string;
  readonly notifications: string;
  readonly usage: string;
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
                ? [{ Put: newRepetition(tables, notification, notification.idempotency) }]
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
                ? [{ Delete: { ...record, Key: repetitionKey(projectId, idempotency.keyHash) } }]
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
      const repetition = (await find(repetitionKey(projectId, keyHash), signal)) as
        | RepetitionItem
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
    const barred: BarredItem = { projectId, notificationId, barred: true, expiresAt };
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

type RecordKey = Pick<NotificationItem, 'projectId' | 'notificationId'>;

const recordExists = 'attribute_exists(notificationId)';
const claimableBy = '(attribute_not_exists(claimedBy) OR claimedBy = :requestId)';

function takeUnit(
  { usage }: SendTables,
  { projectId, sentAt }: NewNotification,
  cap: number | null,
) {
  return {
    TableName: usage,
    Key: { projectId, period: utcMonth(sentAt) },
    UpdateExpression: 'ADD tally :one',
    ConditionExpression: cap === null ? undefined : 'attribute_not_exists(tally) OR tally < :cap',
    ExpressionAttributeValues: { ':one': 1, ':cap': cap ?? undefined },
  };
}

function returnUnit({ usage }: SendTables, { projectId, sentAt }: NewNotification) {
  return {
    TableName: usage,
    Key: { projectId, period: utcMonth(sentAt) },
    UpdateExpression: 'ADD tally :minusOne',
    ExpressionAttributeValues: { ':minusOne': -1 },
  };
}

function newRecord({ notifications }: SendTables, notification: NewNotification) {
  return {
    TableName: notifications,
    Item: newItem(notification),
    ConditionExpression: 'attribute_not_exists(notificationId)',
  };
}

function projectExists({ projects }: SendTables, { projectId }: NewNotification) {
  const ConditionExpression = 'attribute_exists(projectId)';
  return { TableName: projects, Key: { projectId }, ConditionExpression };
}

function newRepetition(
  { notifications }: SendTables,
  { projectId, id, sentAt }: NewNotification,
  { keyHash, requestHash }: Idempotency,
) {
  const now = Math.floor(sentAt.getTime() / 1000);
  const item: RepetitionItem = {
    ...repetitionKey(projectId, keyHash),
    requestHash,
    sendId: id,
    sentAt: sentAt.toISOString(),
    expiresAt: now + limits.idempotencyHours * 60 * 60,
  };
  return {
    TableName: notifications,
    Item: item,
    // TTL deletes late: compare the time.
    ConditionExpression: 'attribute_not_exists(notificationId) OR expiresAt <= :now',
    ExpressionAttributeValues: { ':now': now },
  };
}

function repetitionKey(projectId: string, keyHash: string) {
  return { projectId, notificationId: repetitionId(keyHash) };
}

/** What a send answered, where it came to an end. */
function resultOf(record: NotificationItem): SendResult | undefined {
  const { notificationId: id, attempted, delivered, removed, failed, unreached } = record;
  const counts = { attempted, delivered, removed, failed };
  return attempted === undefined ? undefined : ({ id, ...counts, unreached } as SendResult);
}

export interface BeaconStore {
  /** Counts one beacon. @returns whether there is such a notification. */
  count(projectId: string, notificationId: string, type: BeaconType): Promise<boolean>;
}

export function beaconStore(dynamo: DynamoDBDocumentClient, table: string): BeaconStore {
  return {
    async count(projectId, notificationId, type) {
      try {
        await dynamo.send(
          new UpdateCommand({
            TableName: table,
            Key: { projectId, notificationId },
            UpdateExpression: 'ADD #type :one',
            ConditionExpression: recordExists,
            ExpressionAttributeNames: { '#type': type },
            ExpressionAttributeValues: { ':one': 1 },
          }),
        );
        return true;
      } catch (error) {
        if (isConditionFailure(error)) return false;
        throw error;
      }
    },
  };
}

function newItem({ projectId, id, content, sentAt }: NewNotification): NotificationItem {
  const day = 24 * 60 * 60;
  return {
    projectId,
    notificationId: id,
    ...content,
    sentAt: sentAt.toISOString(),
    expiresAt: Math.floor(sentAt.getTime() / 1000) + limits.notificationRetentionDays * day,
    shown: 0,
    clicked: 0,
  };
}

/** `2026-11`: the period that a send at this time counts against. */
export function utcMonth(time: Date): string {
  return time.toISOString().slice(0, 7);
}

/** Seconds until the next UTC month begins. */
export function secondsToNextMonth(now: Date): number {
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  return Math.ceil((next - now.getTime()) / 1000);
}
