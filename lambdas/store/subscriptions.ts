import { createHash } from 'node:crypto';
import {
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Subscription } from '../../contract/schemas.ts';
import { cancellationReasons, conditionFailed, isConditionFailure } from './dynamo.ts';
import { type SubscriptionItem, subscribersPeriod } from './items.ts';

export interface SubscriptionTables {
  readonly subscriptions: string;
  readonly usage: string;
}

export interface SubscriptionStore {
  /**
   * Stores a subscription as given. A known endpoint is updated whatever the cap. A new one is added
   * and counted only below the cap.
   * @param cap most subscribers of the project; null for no limit.
   */
  save(
    projectId: string,
    subscription: Subscription,
    cap: number | null,
  ): Promise<'created' | 'updated' | 'cap_reached' | 'project_gone'>;

  /** Deletes a subscription and its count, if it exists. */
  remove(projectId: string, endpoint: string): Promise<'removed' | 'absent'>;
}

/** Changes each subscription and the counter in one transaction, so that they always agree. */
export function subscriptionStore(
  dynamo: DynamoDBDocumentClient,
  tables: SubscriptionTables,
  clock: () => Date,
): SubscriptionStore {
  return {
    async save(projectId, subscription, cap) {
      const key = { projectId, endpointHash: endpointHash(subscription.endpoint) };
      for (;;) {
        if (await update(key, subscription)) return 'updated';
        const outcome = await create(key, subscription, cap);
        // Another request has created it meanwhile: update it.
        if (outcome !== 'exists') return outcome;
      }
    },

    async remove(projectId, endpoint) {
      const key = { projectId, endpointHash: endpointHash(endpoint) };
      const removed = await removeCounted(dynamo, tables, projectId, [key.endpointHash]);
      return removed === 1 ? 'removed' : 'absent';
    },
  };

  async function update(key: Key, { endpoint, keys, userId }: Subscription): Promise<boolean> {
    const user = userId === undefined ? 'REMOVE userId' : ', userId = :userId';
    try {
      await dynamo.send(
        new UpdateCommand({
          TableName: tables.subscriptions,
          Key: key,
          UpdateExpression: `SET endpoint = :endpoint, p256dh = :p256dh, #auth = :auth, updatedAt = :now ${user}`,
          ConditionExpression: 'attribute_exists(endpointHash)',
          ExpressionAttributeNames: { '#auth': 'auth' },
          ExpressionAttributeValues: {
            ':endpoint': endpoint,
            ':p256dh': keys.p256dh,
            ':auth': keys.auth,
            ':now': clock().toISOString(),
            ':userId': userId,
          },
        }),
      );
      return true;
    } catch (error) {
      if (isConditionFailure(error)) return false;
      throw error;
    }
  }

  async function create(key: Key, { endpoint, keys, userId }: Subscription, cap: number | null) {
    const now = clock().toISOString();
    const item: SubscriptionItem = {
      ...key,
      endpoint,
      ...keys,
      userId,
      createdAt: now,
      updatedAt: now,
    };
    try {
      await dynamo.send(
        new TransactWriteCommand({
          TransactItems: [
            {
              Put: {
                TableName: tables.subscriptions,
                Item: item,
                ConditionExpression: 'attribute_not_exists(endpointHash)',
              },
            },
            {
              Update: {
                TableName: tables.usage,
                Key: { projectId: key.projectId, period: subscribersPeriod },
                UpdateExpression: 'SET used = used + :one',
                // The attribute exists as long as the project does.
                ConditionExpression:
                  cap === null
                    ? 'attribute_exists(used)'
                    : 'attribute_exists(used) AND used < :cap',
                ExpressionAttributeValues: { ':one': 1, ':cap': cap ?? undefined },
                ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
              },
            },
          ],
        }),
      );
      return 'created';
    } catch (error) {
      const [put, count] = cancellationReasons(error);
      if (conditionFailed(put)) return 'exists';
      if (conditionFailed(count)) {
        return count?.Item?.used === undefined ? 'project_gone' : 'cap_reached';
      }
      throw error;
    }
  }
}

interface Key {
  readonly projectId: string;
  readonly endpointHash: string;
}

type TransactItems = NonNullable<TransactWriteCommandInput['TransactItems']>;

/**
 * Deletes up to `limits.removalBatch` subscriptions and their counts. Missing ones are ignored.
 * @returns how many existed.
 */
export async function removeCounted(
  dynamo: DynamoDBDocumentClient,
  tables: SubscriptionTables,
  projectId: string,
  endpointHashes: readonly string[],
  abortSignal?: AbortSignal,
): Promise<number> {
  if (endpointHashes.length === 0) return 0;
  const deletions: TransactItems = endpointHashes.map((endpointHash) => ({
    Delete: {
      TableName: tables.subscriptions,
      Key: { projectId, endpointHash },
      ConditionExpression: 'attribute_exists(endpointHash)',
    },
  }));
  const decrement: TransactItems[number] = {
    Update: {
      TableName: tables.usage,
      Key: { projectId, period: subscribersPeriod },
      UpdateExpression: 'SET used = used - :removed',
      ConditionExpression: 'attribute_exists(used)',
      ExpressionAttributeValues: { ':removed': endpointHashes.length },
    },
  };
  try {
    const TransactItems = [...deletions, decrement];
    await dynamo.send(new TransactWriteCommand({ TransactItems }), { abortSignal });
    return endpointHashes.length;
  } catch (error) {
    const reasons = cancellationReasons(error);
    if (!reasons.some(conditionFailed)) throw error;
    // Without the attribute the project is being deleted with its subscriptions.
    if (conditionFailed(reasons[endpointHashes.length])) return 0;
    const remaining = endpointHashes.filter((_, index) => !conditionFailed(reasons[index]));
    return removeCounted(dynamo, tables, projectId, remaining, abortSignal);
  }
}

/** SHA-256 of an endpoint, hex: its key, and what logs may contain of it. */
export function endpointHash(endpoint: string): string {
  return createHash('sha256').update(endpoint).digest('hex');
}
