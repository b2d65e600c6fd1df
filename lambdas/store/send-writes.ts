import { limits } from '../../contract/limits.ts';
import type { NotificationContent } from '../../contract/schemas/notification.ts';
import { attributeChanges } from './attribute-changes.ts';
import {
  type Counter,
  giveBackUnits,
  monthCounter,
  newParts,
  notificationPart,
  type ProjectKey,
  partExists,
  subscriberCounter,
} from './counters.ts';
import {
  type Division,
  firstTallies,
  type IdempotencyItem,
  idempotencyId,
  type NotificationItem,
  type TallyItem,
  tallyKey,
} from './items.ts';
import { toStoredContent } from './stored-content.ts';

/** The writes in the transactions of a send. */

export interface NewNotification {
  readonly projectId: string;
  /** Tells the project from an earlier one of the same id. */
  readonly projectCreatedAt: string;
  readonly id: string;
  readonly content: NotificationContent;
  readonly division: Division;
  readonly sentAt: Date;
  readonly idempotency?: Idempotency | undefined;
  /** The tallies of the share that the request itself delivers, with its claim. */
  readonly claimed?: readonly TallyItem[] | undefined;
}

/** Identifies a request and its repetitions. */
export interface Idempotency {
  /** SHA-256 of the caller's `Idempotency-Key`, hex. */
  readonly keyHash: string;
  /** SHA-256 of the request, hex. */
  readonly requestHash: string;
}

export interface SendTables {
  readonly notifications: string;
  readonly tallies: string;
  readonly usage: string;
}

/** A cancelled item has no content: a cancellation that arrives late does nothing to it. */
export const notificationExists = 'attribute_exists(content)';
export const notificationMissing = 'attribute_not_exists(content)';

/** Epoch seconds at which a notification and its tallies are deleted. */
export function expiryOf(sentAt: Date): number {
  const day = 24 * 60 * 60;
  return Math.floor(sentAt.getTime() / 1000) + limits.notificationRetentionDays * day;
}

/** The counter of the month in which a notification is sent. */
export function monthOf({ usage }: SendTables, notification: NewNotification): Counter {
  return monthCounter(usage, projectOf(notification), notification.sentAt);
}

/** Creates the counter of the month, if its project exists. */
export function newMonth(tables: SendTables, notification: NewNotification) {
  const parts = newParts(monthOf(tables, notification), projectOf(notification));
  return [
    { ConditionCheck: projectExists(tables, notification) },
    ...parts.map(({ projectId, period, ...attributes }) => ({
      Update: {
        TableName: tables.usage,
        Key: { projectId, period },
        ConditionExpression: 'attribute_not_exists(period)',
        ...attributeChanges(attributes),
      },
    })),
  ];
}

/** Creates the tallies of the share that the request itself delivers. */
export function claimedTallies({ tallies }: SendTables, { claimed = [] }: NewNotification) {
  return claimed.map(({ tally, ...attributes }) => ({
    TableName: tallies,
    Key: { tally },
    ...attributeChanges(attributes),
  }));
}

function projectOf({ projectId, projectCreatedAt: createdAt }: NewNotification): ProjectKey {
  return { projectId, createdAt };
}

/** To the notification's own part: it may have been counted in another one, but only the sum matters. */
export function returnUnit(tables: SendTables, notification: NewNotification) {
  return giveBackUnits(monthOf(tables, notification), notificationPart(notification.id), 1);
}

export function putNotification(
  { notifications }: SendTables,
  { projectId, id, content, division, sentAt }: NewNotification,
) {
  const item: NotificationItem = {
    projectId,
    notificationId: id,
    content: toStoredContent(content),
    ...division,
    sentAt: sentAt.toISOString(),
    expiresAt: expiryOf(sentAt),
  };
  return {
    TableName: notifications,
    Item: item,
    ConditionExpression: 'attribute_not_exists(notificationId)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
}

/**
 * Claims every share, so that nobody can deliver one later. Fails if another invocation has claimed one,
 * unless that has ended without a push, and if the notification was stopped: its owner was told so.
 */
export function closeShares(
  { tallies }: SendTables,
  { id, division, sentAt }: NewNotification,
  by: string,
) {
  return firstTallies(division).map((tally) => ({
    TableName: tallies,
    Key: { tally: tallyKey(id, tally) },
    UpdateExpression:
      'SET claimedBy = :by, ended = :ended, expiresAt = :expiresAt REMOVE projectId',
    ConditionExpression:
      'attribute_not_exists(stoppedAt) AND (attribute_not_exists(claimedBy) OR claimedBy = :by OR (attribute_exists(ended) AND attempted = :zero))',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    ExpressionAttributeValues: {
      ':by': by,
      ':ended': 'cancelled' satisfies TallyItem['ended'],
      ':expiresAt': expiryOf(sentAt),
      ':zero': 0,
    },
  }));
}

export function projectExists(
  { usage }: SendTables,
  { projectId, projectCreatedAt, id }: NewNotification,
) {
  return partExists(subscriberCounter(usage, projectId), notificationPart(id), projectCreatedAt);
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
