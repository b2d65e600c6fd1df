import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { partPeriods, readParts, subscriberCounter, sumOf } from './counters.ts';
import type { UsageItem } from './items.ts';

/** Reads how many subscribers a project has. */
export function subscriberCount(dynamo: DynamoDBDocumentClient, table: string) {
  return async (projectId: string, abortSignal?: AbortSignal): Promise<number> =>
    sumOf(await readParts(dynamo, subscriberCounter(table, projectId), abortSignal));
}

/** A project's usage: its subscribers, and its notifications in a UTC month. */
export interface ProjectUsage {
  readonly subscribers: number;
  /** Such as `2026-11`. */
  readonly month: string;
  readonly sends: number;
}

/** Reads both with one call: the periods of months come before the periods of subscribers. */
export function projectUsage(dynamo: DynamoDBDocumentClient, table: string) {
  return async (
    projectId: string,
    month: string,
    abortSignal?: AbortSignal,
  ): Promise<ProjectUsage> => {
    const { Items = [] } = await dynamo.send(
      new QueryCommand({
        TableName: table,
        KeyConditionExpression: 'projectId = :projectId AND period >= :month',
        ExpressionAttributeValues: { ':projectId': projectId, ':month': month },
        ConsistentRead: true,
      }),
      { abortSignal },
    );
    const items = Items as Partial<UsageItem>[];
    const countOf = (name: string) => {
      const periods = partPeriods(name);
      return sumOf(items.map(({ period, used }) => (periods.includes(period!) ? used : 0)));
    };
    const { name: subscribers } = subscriberCounter(table, projectId);
    return { subscribers: countOf(subscribers), month, sends: countOf(month) };
  };
}
