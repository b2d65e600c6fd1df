import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { UsageItem } from './items.ts';
import { subscriberCounterPrefix } from './subscription-keys.ts';

/** Reads a project's subscriber counters; none if the project is being removed. */
export async function readCounters(
  dynamo: DynamoDBDocumentClient,
  table: string,
  projectId: string,
  abortSignal?: AbortSignal,
): Promise<readonly UsageItem[]> {
  const { Items = [] } = await dynamo.send(
    new QueryCommand({
      TableName: table,
      KeyConditionExpression: 'projectId = :projectId AND begins_with(period, :prefix)',
      FilterExpression: 'attribute_exists(used)',
      ExpressionAttributeValues: { ':projectId': projectId, ':prefix': subscriberCounterPrefix },
      ConsistentRead: true,
    }),
    { abortSignal },
  );
  return Items as UsageItem[];
}

/** Reads how many subscribers a project has: the sum of its counters. */
export function subscriberCount(dynamo: DynamoDBDocumentClient, table: string) {
  return async (projectId: string, abortSignal?: AbortSignal): Promise<number> => {
    const counters = await readCounters(dynamo, table, projectId, abortSignal);
    return counters.reduce((sum, { used }) => sum + used, 0);
  };
}

/** What a project has used: its subscribers, and its notifications in a UTC month. */
export interface ProjectUsage {
  readonly subscribers: number;
  /** Such as `2026-11`. */
  readonly month: string;
  readonly sends: number;
}

/** Reads both with one call: the periods of months come before those of subscribers. */
export function projectUsage(dynamo: DynamoDBDocumentClient, table: string) {
  return async (projectId: string, month: string): Promise<ProjectUsage> => {
    const { Items = [] } = await dynamo.send(
      new QueryCommand({
        TableName: table,
        KeyConditionExpression: 'projectId = :projectId AND period >= :month',
        ExpressionAttributeValues: { ':projectId': projectId, ':month': month },
        ConsistentRead: true,
      }),
    );
    const usage = { subscribers: 0, month, sends: 0 };
    for (const { period, used = 0 } of Items as Partial<UsageItem>[]) {
      if (period === month) usage.sends = used;
      else if (period!.startsWith(subscriberCounterPrefix)) usage.subscribers += used;
    }
    return usage;
  };
}
