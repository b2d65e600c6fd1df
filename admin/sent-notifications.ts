import { DeleteCommand, type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { sliceTimeline } from '../contract/infrastructure/delivery.ts';
import type { ProjectTables } from '../contract/infrastructure/tables.ts';
import { limits } from '../contract/wire/limits.ts';
import type { NotificationResult } from '../contract/wire/notification.ts';
import { isInProgress } from '../contract/wire/notification-status.ts';
import type { ProjectRef } from '../contract/wire/project.ts';
import { findNotification, notificationResult } from '../lambdas/results/notification-result.ts';
import { isOver } from '../lambdas/results/summary.ts';
import { stopNotification } from '../lambdas/stop-notification/stop-notification.ts';
import { type Delivery, deliveriesOf } from '../lambdas/store/deliveries.ts';
import {
  type DeletedItem,
  eventCounterId,
  expiryAfterHours,
  type SliceItem,
  sliceId,
} from '../lambdas/store/items.ts';
import { notificationStore, type StoredNotification } from '../lambdas/store/notifications.ts';
import { type StoredSlice, sliceStore } from '../lambdas/store/slices.ts';

/** Ms after which no function works on a notification any more: one that is dropped late, and then runs as long as it may. */
const longestDeliveryMs =
  sliceTimeline.startWithinMs + sliceTimeline.timeoutMs + sliceTimeline.clockDifferenceMs;

/** As long as a key is recognised. The clocks of functions may differ. */
const deletedForHours = limits.idempotencyHours + 1;

/** Notifications that are read at once. */
const pageLength = 50;

export type SentNotifications = ReturnType<typeof sentNotifications>;

/** A notification as the API returns it. */
export interface SentNotification extends NotificationResult {
  /** ISO 8601: since when nobody has stored anything of a slice that is not over. Present from {@link quietAfterMs} on. */
  readonly noNewsSince?: string;
}

/** A function at work stores something every 2 s, and repeats what fails. */
const quietAfterMs = 5 * sliceTimeline.saveEveryMs;

/** What a project has sent, as the operator reads and stops it: in the tables, without a key. */
export function sentNotifications(
  dynamo: DynamoDBDocumentClient,
  tables: ProjectTables,
  ref: ProjectRef,
  clock: () => Date,
) {
  const deps = {
    notifications: notificationStore(dynamo, tables.notifications, clock),
    deliveries: deliveriesOf(dynamo, tables.deliveries),
    slices: sliceStore(dynamo, tables.deliveries),
    clock,
  };

  /** The newest first, page by page. */
  async function* pages(): AsyncGenerator<readonly SentNotification[]> {
    let from: string | undefined;
    do {
      const found = await deps.notifications.newest(ref, pageLength + 1, from);
      const page = found.slice(0, pageLength);
      const delivered = await deps.deliveries(page);
      yield page.map((one, index) => resultOf(one, delivered[index]!));
      from = found[pageLength]?.id;
    } while (from !== undefined);
  }

  return {
    /** The latest, and all that functions may still work on: the newest first. */
    async latest(count: number): Promise<readonly SentNotification[]> {
      const kept: SentNotification[] = [];
      const since = new Date(clock().getTime() - longestDeliveryMs).toISOString();
      for await (const page of pages()) {
        const missing = count - kept.length;
        kept.push(...page.filter(({ status }, index) => index < missing || isInProgress(status)));
        const last = page.at(-1);
        if (kept.length >= count && (last === undefined || last.sentAt < since)) break;
      }
      return kept;
    },

    /** @throws {ServiceError} `notification_not_found`. */
    async find(id: string): Promise<SentNotification> {
      const { notification, delivery } = await findNotification(deps, { ref }, id);
      return resultOf(notification, delivery);
    },

    /**
     * Stops a notification: the last push starts `lastPushAfterStopMs` later at most. One that had ended stays as it is.
     * @throws {ServiceError} `notification_not_found`.
     */
    async stop(id: string): Promise<SentNotification> {
      const found = await findNotification(deps, { ref }, id);
      const { notification, delivery } = await stopNotification(deps, { ref }, found);
      return resultOf(notification, delivery);
    },

    /**
     * What deletes content and counts of a notification. Repeat it after an interruption: the notification goes last.
     * Undefined: functions work on it, or a repeated request could continue it.
     * @throws {ServiceError} `notification_not_found`.
     */
    async deletionOf(id: string): Promise<(() => Promise<void>) | undefined> {
      const { notification, delivery } = await findNotification(deps, { ref }, id);
      const isAllOver = delivery.slices.every((slice) => isOver(slice, clock()));
      return isAllOver ? () => deleteOver(notification) : undefined;
    },
  };

  async function deleteOver({
    id,
    division,
    sentAt,
    expiresAt: until,
  }: StoredNotification): Promise<void> {
    const { slices, countersPerSlice } = division;
    for (let slice = 0; slice < slices; slice += 1) {
      // In its place, so that no request that has read the notification delivers the slice again.
      const ended = 'cancelled';
      const Item: SliceItem = { id: sliceId(id, slice), ended, expiresAt: until };
      await dynamo.send(new PutCommand({ TableName: tables.deliveries, Item }));
    }
    for (let counter = 0; counter < slices * countersPerSlice; counter += 1) {
      const Key = { id: eventCounterId(id, counter) };
      await dynamo.send(new DeleteCommand({ TableName: tables.deliveries, Key }));
    }
    const Item: DeletedItem = {
      projectRef: ref,
      notificationId: id,
      deleted: true,
      // As long as it would be kept: it counts in its month.
      expiresAt: Math.max(until, expiryAfterHours(sentAt, deletedForHours)),
    };
    await dynamo.send(new PutCommand({ TableName: tables.notifications, Item }));
  }

  function resultOf(notification: StoredNotification, delivery: Delivery): SentNotification {
    const result = notificationResult(notification, delivery, clock());
    if (!isInProgress(result.status)) return result;
    const newsAt = Math.min(...delivery.slices.map((slice) => lastNewsOf(notification, slice)));
    const isQuiet = newsAt < clock().getTime() - quietAfterMs;
    return isQuiet ? { ...result, noNewsSince: new Date(newsAt).toISOString() } : result;
  }
}

/** Epoch ms of what was stored last of a slice; infinite if it is over. Before that, it waits since the send. */
function lastNewsOf({ sentAt }: StoredNotification, slice: StoredSlice | undefined): number {
  if (slice?.ended !== undefined) return Number.POSITIVE_INFINITY;
  const { lease, stoppedAt = 0 } = slice ?? {};
  const writtenAt = lease === undefined ? sentAt.getTime() : lease.until - sliceTimeline.leaseMs;
  return Math.max(writtenAt, stoppedAt);
}
