import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { ProjectRef } from '../../contract/project.ts';
import { type Parts, partPeriods, subscriberCounter, sumOf } from './counters.ts';
import type { UsageItem } from './items.ts';

/** A project's counters, part by part: its subscribers, and its notifications in a UTC month. */
export interface UsedParts {
  readonly subscribers: Parts;
  readonly sends: Parts;
}

/** Reads both with one call: the periods of months come before the periods of subscribers. */
export function usedParts(dynamo: DynamoDBDocumentClient, table: string) {
  return async (
    project: ProjectRef,
    month: string,
    abortSignal?: AbortSignal,
  ): Promise<UsedParts> => {
    const { Items = [] } = await dynamo.send(
      new QueryCommand({
        TableName: table,
        KeyConditionExpression: 'projectRef = :project AND period >= :month',
        ExpressionAttributeValues: { ':project': project, ':month': month },
        ConsistentRead: true,
      }),
      { abortSignal },
    );
    const used = new Map((Items as Partial<UsageItem>[]).map((item) => [item.period, item.used]));
    const partsOf = (name: string) => partPeriods(name).map((period) => used.get(period));
    const { name: subscribers } = subscriberCounter(table, project);
    return { subscribers: partsOf(subscribers), sends: partsOf(month) };
  };
}

/** A project's usage: its subscribers, and its notifications in a UTC month. */
export interface ProjectUsage {
  readonly subscribers: number;
  /** Such as `2026-11`. */
  readonly month: string;
  readonly sends: number;
}

export function projectUsage(dynamo: DynamoDBDocumentClient, table: string) {
  const read = usedParts(dynamo, table);
  return async (
    project: ProjectRef,
    month: string,
    abortSignal?: AbortSignal,
  ): Promise<ProjectUsage> => {
    const { subscribers, sends } = await read(project, month, abortSignal);
    return { subscribers: sumOf(subscribers), month, sends: sumOf(sends) };
  };
}
