import {
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { limits } from '../contract/limits.ts';
import type { BeaconType, NotificationContent, SendResult } from '../contract/schemas.ts';
import { cancellationReasons, conditionFailed, isConditionFailure } from './dynamo.ts';
import type { NotificationItem } from './items.ts';

export interface SendStore {
  /**
   * Takes one unit of the present UTC month and makes the notification's record, both or neither,
   * and neither for a project that has just been deleted.
   * @param cap most notifications the project may send this month; null for no limit.
   */
  begin(
    notification: NewNotification,
    cap: number | null,
  ): Promise<'begun' | 'cap_reached' | 'project_gone'>;

  /** Undoes {@link begin}, for a send that ended before any push was attempted. */
  giveBack(notification: NewNotification): Promise<void>;

  /** Adds a send's counts to its record. */
  finish(projectId: string, result: SendResult): Promise<void>;
}

export interface NewNotification {
  readonly projectId: string;
  readonly id: string;
  readonly content: NotificationContent;
  readonly sentAt: Date;
}

export function sendStore(
  dynamo: DynamoDBDocumentClient,
  tables: { readonly projects: string; readonly notifications: string; readonly usage: string },
): SendStore {
  return {
    async begin(notification, cap) {
      const month = { projectId: notification.projectId, period: utcMonth(notification.sentAt) };
      try {
        // A transaction is sent again under the same token where its answer was lost: a plain
        // counter would count such a send twice.
        await dynamo.send(
          new TransactWriteCommand({
            TransactItems: [
              {
                Update: {
                  TableName: tables.usage,
                  Key: month,
                  UpdateExpression: 'ADD tally :one',
                  ConditionExpression:
                    cap === null ? undefined : 'attribute_not_exists(tally) OR tally < :cap',
                  ExpressionAttributeValues: { ':one': 1, ':cap': cap ?? undefined },
                },
              },
              { Put: { TableName: tables.notifications, Item: newItem(notification) } },
              {
                ConditionCheck: {
                  TableName: tables.projects,
                  Key: { projectId: notification.projectId },
                  ConditionExpression: 'attribute_exists(projectId)',
                },
              },
            ],
          }),
        );
        return 'begun';
      } catch (error) {
        const [unit, , project] = cancellationReasons(error);
        if (conditionFailed(project)) return 'project_gone';
        if (conditionFailed(unit)) return 'cap_reached';
        throw error;
      }
    },

    async giveBack({ projectId, id, sentAt }) {
      await dynamo.send(
        new TransactWriteCommand({
          TransactItems: [
            {
              Update: {
                TableName: tables.usage,
                Key: { projectId, period: utcMonth(sentAt) },
                UpdateExpression: 'ADD tally :minusOne',
                ExpressionAttributeValues: { ':minusOne': -1 },
              },
            },
            {
              Delete: {
                TableName: tables.notifications,
                Key: { projectId, notificationId: id },
                // Given back once, however often it is asked for.
                ConditionExpression: 'attribute_exists(notificationId)',
              },
            },
          ],
        }),
      );
    },

    async finish(projectId, { id, ...counts }) {
      const known = Object.entries(counts).filter(([, count]) => count !== undefined);
      const names = known.map(([name]) => name);
      await dynamo.send(
        new UpdateCommand({
          TableName: tables.notifications,
          Key: { projectId, notificationId: id },
          UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')}`,
          ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
          ExpressionAttributeValues: Object.fromEntries(
            known.map(([name, count]) => [`:${name}`, count]),
          ),
        }),
      );
    },
  };
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
            ConditionExpression: 'attribute_exists(notificationId)',
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
