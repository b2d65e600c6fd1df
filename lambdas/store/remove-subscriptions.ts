import {
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { cancellationReasons, conditionFailed } from './dynamo.ts';
import {
  type CountedProject,
  partOf,
  type SubscriptionTables,
  subscriberPeriod,
  subscriptionKey,
} from './subscription-keys.ts';

/**
 * Deletes subscriptions and their counts in one transaction.
 * @param condition of each deletion; a subscription that does not meet it is kept.
 * @returns how many existed and met the condition.
 */
export async function removeSubscriptions(
  dynamo: DynamoDBDocumentClient,
  tables: SubscriptionTables,
  condition: Pick<UpdateCommandInput, 'ConditionExpression' | 'ExpressionAttributeValues'>,
  project: CountedProject,
  endpointHashes: readonly Uint8Array[],
  abortSignal: AbortSignal | undefined,
): Promise<number> {
  if (endpointHashes.length === 0) return 0;
  const deletions = endpointHashes.map((hash) => ({
    Delete: {
      TableName: tables.subscriptions,
      Key: subscriptionKey(project.projectId, hash),
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

function decrements(
  tables: SubscriptionTables,
  { projectId, subscriberCounter }: CountedProject,
  endpointHashes: readonly Uint8Array[],
) {
  const removed = new Map<string, number>();
  for (const hash of endpointHashes) {
    const period = subscriberPeriod(subscriberCounter, partOf(hash));
    removed.set(period, (removed.get(period) ?? 0) + 1);
  }
  return [...removed].map(([period, number]) => ({
    Update: {
      TableName: tables.usage,
      Key: { projectId, period },
      UpdateExpression: 'SET used = used - :removed',
      ConditionExpression: 'attribute_exists(used)',
      ExpressionAttributeValues: { ':removed': number },
    },
  }));
}
