import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { EventType } from '../../contract/schemas.ts';
import { isConditionFailure } from './dynamo.ts';

export interface EventStore {
  /** Counts one event. @returns whether the project has this notification. */
  count(projectId: string, notificationId: string, type: EventType): Promise<boolean>;
}

export function eventStore(dynamo: DynamoDBDocumentClient, table: string): EventStore {
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
