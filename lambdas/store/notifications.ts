import {
  type DynamoDBDocumentClient,
  GetCommand,
  paginateQuery,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { EventType } from '../../contract/wire/event.ts';
import type { NotificationContent } from '../../contract/wire/notification.ts';
import type { ProjectRef } from '../../contract/wire/project.ts';
import { attributeChanges, isConditionFailure } from './dynamo.ts';
import {
  type Division,
  type EventCounterItem,
  eventCounterId,
  type NotificationItem,
  type StoredContent,
} from './items.ts';

/** Conditions that an item is a notification, or may become one: one that was cancelled has no content. */
export const isSent = 'attribute_exists(content)';
export const notSent = 'attribute_not_exists(content)';

/** A notification as it was sent. */
export interface StoredNotification {
  readonly id: string;
  readonly content: NotificationContent;
  readonly division: Division;
  readonly sentAt: Date;
  /** Epoch seconds from which it is not found. DynamoDB deletes it and the items of its delivery at some later time. */
  readonly expiresAt: number;
  /** The name of the member who sent it, if it was one. */
  readonly sentBy?: string | undefined;
  /** Whether it is a test. */
  readonly test?: true | undefined;
}

export type NotificationStore = ReturnType<typeof notificationStore>;

/** The greatest UUID (RFC 9562 §5.10), and less than the keys of idempotency items. */
const maxUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export function notificationStore(
  dynamo: DynamoDBDocumentClient,
  table: string,
  clock: () => Date,
) {
  const nowSeconds = () => Math.floor(clock().getTime() / 1000);
  return {
    async find(
      project: ProjectRef,
      notificationId: string,
      abortSignal?: AbortSignal,
    ): Promise<StoredNotification | undefined> {
      const { Item } = await dynamo.send(
        new GetCommand({
          TableName: table,
          Key: { projectRef: project, notificationId },
          ConsistentRead: true,
        }),
        { abortSignal },
      );
      // It may have been cancelled or deleted.
      if (Item?.content === undefined || Item.expiresAt <= nowSeconds()) return undefined;
      return fromItem(Item as NotificationItem);
    },

    /** Whether a notification that {@link find} does not find was deleted. */
    async wasDeleted(
      project: ProjectRef,
      notificationId: string,
      abortSignal?: AbortSignal,
    ): Promise<boolean> {
      const Key = { projectRef: project, notificationId };
      const { Item } = await dynamo.send(
        new GetCommand({ TableName: table, Key, ConsistentRead: true }),
        { abortSignal },
      );
      return Item?.deleted === true;
    },

    /**
     * Reads the notifications of a project, the newest first. Cancelled, deleted and expired ones are left out.
     * @param limit how many, unless there are fewer.
     * @param from the id of the first one, or of any later position in their order.
     */
    async newest(
      project: ProjectRef,
      limit: number,
      from = maxUuid,
      abortSignal?: AbortSignal,
    ): Promise<readonly StoredNotification[]> {
      const items: NotificationItem[] = [];
      const pages = paginateQuery(
        { client: dynamo },
        {
          TableName: table,
          KeyConditionExpression: 'projectRef = :project AND notificationId <= :from',
          FilterExpression: `${isSent} AND expiresAt > :now`,
          ExpressionAttributeValues: { ':project': project, ':from': from, ':now': nowSeconds() },
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

function fromItem({
  notificationId,
  content,
  sentAt,
  sentBy,
  test,
  expiresAt,
  ...item
}: NotificationItem): StoredNotification {
  const { users, subscribers, conditions, slices, countersPerSlice } = item;
  const { shownSample, extraOrigins, respondedAsync } = item;
  return {
    id: notificationId,
    content: fromStoredContent(content),
    division: {
      users,
      subscribers,
      conditions,
      slices,
      countersPerSlice,
      shownSample,
      extraOrigins,
      respondedAsync,
    },
    sentAt: new Date(sentAt),
    sentBy,
    test,
    expiresAt,
  };
}

export function toStoredContent({ data, ...content }: NotificationContent): StoredContent {
  return data === undefined ? content : { ...content, data: JSON.stringify(data) };
}

function fromStoredContent({ data, ...content }: StoredContent): NotificationContent {
  return data === undefined ? content : { ...content, data: JSON.parse(data) };
}

/** A new counter of events. */
export function eventCounter(
  project: ProjectRef,
  notificationId: string,
  counter: number,
  expiresAt: number,
): EventCounterItem {
  return { id: eventCounterId(notificationId, counter), projectRef: project, expiresAt };
}

export type EventCounterStore = ReturnType<typeof eventCounterStore>;

export function eventCounterStore(dynamo: DynamoDBDocumentClient, table: string) {
  return {
    /** Creates a counter. Once more changes nothing. */
    async create(
      { id, ...attributes }: EventCounterItem,
      abortSignal?: AbortSignal,
    ): Promise<void> {
      await dynamo.send(
        new UpdateCommand({ TableName: table, Key: { id }, ...attributeChanges(attributes) }),
        { abortSignal },
      );
    },

    /** Counts one event. @returns whether the project has this counter. */
    async count(
      project: ProjectRef,
      notificationId: string,
      counter: number,
      type: EventType,
      abortSignal?: AbortSignal,
    ): Promise<boolean> {
      try {
        await dynamo.send(
          new UpdateCommand({
            TableName: table,
            Key: { id: eventCounterId(notificationId, counter) },
            UpdateExpression: 'ADD #type :one',
            ConditionExpression: 'projectRef = :project',
            ExpressionAttributeNames: { '#type': type },
            ExpressionAttributeValues: { ':one': 1, ':project': project },
          }),
          { abortSignal },
        );
        return true;
      } catch (error) {
        if (isConditionFailure(error)) return false;
        throw error;
      }
    },
  };
}
