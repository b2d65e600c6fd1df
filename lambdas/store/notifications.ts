import { type DynamoDBDocumentClient, GetCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import type { NotificationContent } from '../../contract/schemas/notification.ts';
import type { CancelledItem, Division, NotificationItem } from './items.ts';
import { notificationExists } from './send-writes.ts';
import { fromStoredContent } from './stored-content.ts';

/** A notification as it was sent. */
export interface StoredNotification {
  readonly id: string;
  readonly content: NotificationContent;
  readonly division: Division;
  readonly sentAt: Date;
}

export interface NotificationStore {
  find(
    projectId: string,
    notificationId: string,
    signal?: AbortSignal,
  ): Promise<StoredNotification | undefined>;

  /**
   * Reads the notifications of a project, the newest first. Cancelled ones are left out.
   * @param limit how many, unless there are fewer.
   * @param from the id of the first one, or of any later position in their order.
   */
  newest(
    projectId: string,
    limit: number,
    from?: string,
    signal?: AbortSignal,
  ): Promise<readonly StoredNotification[]>;
}

/** The greatest UUID (RFC 9562 §5.10), and less than the keys of idempotency items. */
const maxUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

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
      return fromItem(Item as NotificationItem);
    },

    async newest(projectId, limit, from = maxUuid, abortSignal) {
      const items: NotificationItem[] = [];
      const pages = paginateQuery(
        { client: dynamo },
        {
          TableName: table,
          KeyConditionExpression: 'projectId = :projectId AND notificationId <= :from',
          FilterExpression: notificationExists,
          ExpressionAttributeValues: { ':projectId': projectId, ':from': from },
          ScanIndexForward: false,
          ConsistentRead: true,
          Limit: limit,
        },
        { abortSignal },
      );
      for await (const { Items = [] } of pages) {
        items.push(...(Items as NotificationItem[]));
        // DynamoDB applies the limit before the filter.
        if (items.length >= limit) break;
      }
      return items.slice(0, limit).map(fromItem);
    },
  };
}

function fromItem({ notificationId, content, sentAt, ...item }: NotificationItem) {
  const { users, subscribers, channels, seenWithinDays } = item;
  const { shares, talliesPerShare, respondedAsync } = item;
  return {
    id: notificationId,
    content: fromStoredContent(content),
    division: {
      ...{ users, subscribers, channels, seenWithinDays },
      ...{ shares, talliesPerShare, respondedAsync },
    },
    sentAt: new Date(sentAt),
  };
}
