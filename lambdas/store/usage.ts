import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { ProjectRef } from '../../contract/project.ts';
import { partsIn, subscriberCounter, sumOf } from './counters.ts';

/**
 * A project's counters, part by part: its subscribers, and its notifications in a UTC month. Reads both with one call:
 * the periods of months come before the periods of subscribers.
 */
export function usedParts(dynamo: DynamoDBDocumentClient, table: string) {
  return async (project: ProjectRef, month: string, abortSignal?: AbortSignal) => {
    const { Items = [] } = await dynamo.send(
      new QueryCommand({
        TableName: table,
        KeyConditionExpression: 'projectRef = :project AND period >= :month',
        ExpressionAttributeValues: { ':project': project, ':month': month },
        ConsistentRead: true,
      }),
      { abortSignal },
    );
    const { name } = subscriberCounter(table, project);
    return { subscribers: partsIn(Items, name), sends: partsIn(Items, month) };
  };
}

export type ProjectUsage = Awaited<ReturnType<ReturnType<typeof projectUsage>>>;

/** A project's usage: its subscribers, and its notifications in a UTC month such as `2026-11`. */
export function projectUsage(dynamo: DynamoDBDocumentClient, table: string) {
  const read = usedParts(dynamo, table);
  return async (project: ProjectRef, month: string, abortSignal?: AbortSignal) => {
    const { subscribers, sends } = await read(project, month, abortSignal);
    return { subscribers: sumOf(subscribers), month, sends: sumOf(sends) };
  };
}
