import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { BeaconType } from '../../contract/schemas.ts';
import { isConditionFailure } from './dynamo.ts';

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
