import {
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import type { ProjectRef } from '../../contract/project.ts';
import { giveBackUnits, subscriberCounter } from './counters.ts';
import { cancellationReasons, conditionFailed } from './dynamo.ts';
import { partOf, type SubscriptionTables, subscriptionKey } from './subscription-keys.ts';

/**
 * Deletes subscriptions and their counts in one transaction.
 * @param condition of each deletion; a subscription that does not meet it is kept.
 * @returns how many existed and met the condition.
 */
export async function removeSubscriptions(
  dynamo: DynamoDBDocumentClient,
  tables: SubscriptionTables,
  condition: Pick<UpdateCommandInput, 'ConditionExpression' | 'ExpressionAttributeValues'>,
  project: ProjectRef,
  endpointHashes: readonly Uint8Array[],
  abortSignal: AbortSignal | undefined,
): Promise<number> {
  if (endpointHashes.length === 0) return 0;
  const deletions = endpointHashes.map((hash) => ({
    Delete: {
      TableName: tables.subscriptions,
      Key: subscriptionKey(project, hash),
      ...condition,
    },
  }));
  const TransactItems = [...deletions, ...decrements(tables, project, endpointHashes)];
  try {
    await dynamo.send(new TransactWriteCommand({ TransactItems }), { abortSignal });
    return endpointHashes.length;
  } catch (error) {
    const reasons = cancellationReasons(error);
    if (!reasons.some(conditionFailed)) throw error;
    // Without the attribute the project is being deleted with its subscriptions.
    if (reasons.slice(endpointHashes.length).some(conditionFailed)) return 0;
    const remaining = endpointHashes.filter((_, index) => !conditionFailed(reasons[index]));
    return removeSubscriptions(dynamo, tables, condition, project, remaining, abortSignal);
  }
}

/** The part that a subscription was counted in may have been another one: only the sum matters. */
function decrements(
  { usage }: SubscriptionTables,
  project: ProjectRef,
  endpointHashes: readonly Uint8Array[],
) {
  const counter = subscriberCounter(usage, project);
  const removed = new Map<number, number>();
  for (const hash of endpointHashes) {
    const part = partOf(hash);
    removed.set(part, (removed.get(part) ?? 0) + 1);
  }
  return [...removed].map(([part, number]) => ({ Update: giveBackUnits(counter, part, number) }));
}
