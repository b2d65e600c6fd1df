import { limits } from '../../contract/limits.ts';
import type { NotificationContent, SendResult } from '../../contract/schemas.ts';
import { utcMonth } from './calendar.ts';
import { type IdempotencyItem, idempotencyId, type NotificationItem } from './items.ts';

/** The writes in the transactions of a send. */

export interface NewNotification {
  readonly projectId: string;
  readonly id: string;
  readonly content: NotificationContent;
  readonly sentAt: Date;
  readonly idempotency?: Idempotency | undefined;
}

/** Identifies a request and its repetitions. */
export interface Idempotency {
  /** SHA-256 of the caller's `Idempotency-Key`, hex. */
  readonly keyHash: string;
  /** SHA-256 of the request, hex. */
  readonly requestHash: string;
}

export interface SendTables {
  readonly projects: string;
  readonly notifications: string;
  readonly usage: string;
}

export type RecordKey = Pick<NotificationItem, 'projectId' | 'notificationId'>;

export const recordExists = 'attribute_exists(notificationId)';
export const claimableBy = '(attribute_not_exists(claimedBy) OR claimedBy = :requestId)';

export function takeUnit(
  { usage }: SendTables,
  { projectId, sentAt }: NewNotification,
  cap: number | null,
) {
  return {
    TableName: usage,
    Key: { projectId, period: utcMonth(sentAt) },
    UpdateExpression: 'ADD used :one',
    ConditionExpression: cap === null ? undefined : 'attribute_not_exists(used) OR used < :cap',
    ExpressionAttributeValues: { ':one': 1, ':cap': cap ?? undefined },
  };
}

export function returnUnit({ usage }: SendTables, { projectId, sentAt }: NewNotification) {
  return {
    TableName: usage,
    Key: { projectId, period: utcMonth(sentAt) },
    UpdateExpression: 'ADD used :minusOne',
    ExpressionAttributeValues: { ':minusOne': -1 },
  };
}

export function newRecord({ notifications }: SendTables, notification: NewNotification) {
  return {
    TableName: notifications,
    Item: newItem(notification),
    ConditionExpression: 'attribute_not_exists(notificationId)',
  };
}

export function projectExists({ projects }: SendTables, { projectId }: NewNotification) {
  const ConditionExpression = 'attribute_exists(projectId)';
  return { TableName: projects, Key: { projectId }, ConditionExpression };
}

export function newIdempotencyItem(
  { notifications }: SendTables,
  { projectId, id, sentAt }: NewNotification,
  { keyHash, requestHash }: Idempotency,
) {
  const now = Math.floor(sentAt.getTime() / 1000);
  const item: IdempotencyItem = {
    ...idempotencyItemKey(projectId, keyHash),
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

export function idempotencyItemKey(projectId: string, keyHash: string) {
  return { projectId, notificationId: idempotencyId(keyHash) };
}

/** The response of a send, if it has ended. */
export function resultOf(record: NotificationItem): SendResult | undefined {
  const { notificationId: id, attempted, delivered, removed, failed, unreached } = record;
  const counts = { attempted, delivered, removed, failed };
  return attempted === undefined ? undefined : ({ id, ...counts, unreached } as SendResult);
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
