import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { UsageItem } from './items.ts';
import { subscriberCounterPrefix } from './subscription-keys.ts';

/** Reads how many subscribers a project has: the sum of its counters. */
export function subscriberCount(dynamo: DynamoDBDocumentClient, table: string) {
  return async (projectId: string, abortSignal?: AbortSignal): Promise<number> => {
    const { Items = [] } = await dynamo.send(
      new QueryCommand({
        TableName: table,
        KeyConditionExpression: 'projectId = :projectId AND begins_with(period, :subscribers)',
        ExpressionAttributeValues: {
          ':projectId': projectId,
          ':subscribers': subscriberCounterPrefix,
        },
        ConsistentRead: true,
      }),
      { abortSignal },
    );
    return (Items as UsageItem[]).reduce((sum, { used = 0 }) => sum + used, 0);
  };
}
