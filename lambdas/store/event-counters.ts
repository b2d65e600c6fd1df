import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { EventType } from '../../contract/wire/event.ts';
import type { ProjectRef } from '../../contract/wire/project.ts';
import { attributeChanges, isConditionFailure } from './dynamo.ts';
import { type EventCounterItem, eventCounterId } from './items.ts';

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
    async open({ id, ...attributes }: EventCounterItem, abortSignal?: AbortSignal): Promise<void> {
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
