import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import type { CancelledItem, NotificationItem, SendPlan } from './items.ts';

/** A notification as it was sent. */
export interface StoredNotification {
  readonly id: string;
  readonly content: NotificationItem['content'];
  readonly plan: SendPlan;
  readonly sentAt: Date;
}

export interface NotificationStore {
  find(
    projectId: string,
    notificationId: string,
    signal?: AbortSignal,
  ): Promise<StoredNotification | undefined>;
}

export function notificationStore(
  dynamo: DynamoDBDocumentClient,
  table: string,
): NotificationStore {
  return {
    async find(projectId, notificationId, abortSignal) {
      const { Item } = await dynamo.send(
        new GetCommand({
          TableName: table,
          Key: { projectId, notificationId },
          ConsistentRead: true,
        }),
        { abortSignal },
      );
      if (Item === undefined || 'cancelled' in (Item as CancelledItem)) return undefined;
      const { content, sentAt, ...item } = Item as NotificationItem;
      const { users, subscribers, shares, talliesPerShare, respondedAsync } = item;
      return {
        id: notificationId,
        content,
        plan: { users, subscribers, shares, talliesPerShare, respondedAsync },
        sentAt: new Date(sentAt),
      };
    },
  };
}
