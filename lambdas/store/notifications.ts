import {
  type DynamoDBDocumentClient,
  GetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { limits } from '../contract/limits.ts';
import type { BeaconType, NotificationContent, SendResult } from '../contract/schemas.ts';
import { cancellationReasons, conditionFailed, isConditionFailure } from './dynamo.ts';
import { type NotificationItem, type RepetitionItem, repetitionId } from './items.ts';

export interface SendStore {
  /**
   * Takes one unit of the present UTC month and makes the notification's record, both or neither,
   * and neither for a project that has just been deleted or a request that repeats another.
   * @param cap most notifications the project may send this month; null for no limit.
   */
  begin(
    notification: NewNotification,
    cap: number | null,
  ): Promise<'begun' | 'cap_reached' | 'project_gone' | 'repeated'>;

  /**
   * Undoes {@link begin}, for a send that ended before any push was attempted: once, however often
   * it is asked for, and not at all for a project deleted meanwhile.
   */
  giveBack(notification: NewNotification): Promise<void>;

  /** Adds a send's counts to its record, unless that went with its project meanwhile. */
  finish(projectId: string, result: SendResult): Promise<void>;

  /** Finds the request that a key stands for. */
  earlier(projectId: string, keyHash: string): Promise<EarlierSend | undefined>;
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
  readonly requestHash: string;
  readonly sentAt: Date;
  /** What it answered; absent while it is under way, and where it broke off. */
  readonly result?: SendResult | undefined;
}

interface SendTables {
  readonly projects: string;
  readonly notifications: string;
  readonly usage: string;
}

export function sendStore(dynamo: DynamoDBDocumentClient, tables: SendTables): SendStore {
  return {
    async begin(notification, cap) {
      try {
        // A transaction is sent again under the same token where its answer was lost: a plain
        // counter would count such a send twice.
        await dynamo.send(
          new TransactWriteCommand({
            TransactItems: [
              { Update: takeUnit(tables, notification, cap) },
              { ConditionCheck: projectExists(tables, notification) },
              { Put: { TableName: tables.notifications, Item: newItem(notification) } },
              ...(notification.idempotency
                ? [{ Put: newRepetition(tables, notification, notification.idempotency) }]
                : []),
            ],
          }),
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

    async giveBack({ projectId, id, sentAt, idempotency }) {
      const record = { TableName: tables.notifications, Key: { projectId, notificationId: id } };
      try {
        await dynamo.send(
          new TransactWriteCommand({
            TransactItems: [
              { Delete: { ...record, ConditionExpression: recordExists } },
              {
                Update: {
                  TableName: tables.usage,
                  Key: { projectId, period: utcMonth(sentAt) },
                  UpdateExpression: 'ADD tally :minusOne',
                  ExpressionAttributeValues: { ':minusOne': -1 },
                },
              },
              ...(idempotency
                ? [{ Delete: { ...record, Key: repetitionKey(projectId, idempotency.keyHash) } }]
                : []),
            ],
          }),
        );
      } catch (error) {
        if (!conditionFailed(cancellationReasons(error)[0])) throw error;
      }
    },

    async earlier(projectId, keyHash) {
      const repetition = (await find(repetitionKey(projectId, keyHash))) as
        | RepetitionItem
        | undefined;
      if (repetition === undefined) return undefined;
      const { requestHash, sentAt, sendId } = repetition;
      const record = await find({ projectId, notificationId: sendId });
      const result = record && resultOf(record as NotificationItem);
      return { requestHash, sentAt: new Date(sentAt), result };
    },

    async finish(projectId, { id, ...counts }) {
      const known = Object.entries(counts).filter(([, count]) => count !== undefined);
      const names = known.map(([name]) => name);
      try {
        await dynamo.send(
          new UpdateCommand({
            TableName: tables.notifications,
            Key: { projectId, notificationId: id },
            UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
            // Or an item would be left that nothing ever deletes.
            ConditionExpression: recordExists,
            ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
            ExpressionAttributeValues: Object.fromEntries(
              known.map(([name, count]) => [`:${name}`, count]),
            ),
          }),
        );
      } catch (error) {
        if (!isConditionFailure(error)) throw error;
      }
    },
  };

  async function find(key: { projectId: string; notificationId: string }) {
    const { Item } = await dynamo.send(
      new GetCommand({ TableName: tables.notifications, Key: key, ConsistentRead: true }),
    );
    return Item;
  }
}

const recordExists = 'attribute_exists(notificationId)';

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
    // TTL deletes late: an item past its time is as good as none.
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
