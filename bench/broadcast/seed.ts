import { createECDH, randomBytes } from 'node:crypto';
import { BatchWriteCommand, type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { localConfig } from '../../admin/local-config.ts';
import { projectRegistry } from '../../admin/project-registry.ts';
import { projectTables } from '../../admin/project-tables.ts';
import type { ProjectRef } from '../../contract/project.ts';
import { newSubscriberParts } from '../../lambdas/store/counters.ts';
import { documentClient } from '../../lambdas/store/dynamo.ts';
import type { SubscriptionItem } from '../../lambdas/store/items.ts';
import { endpointHash, subscriptionKey } from '../../lambdas/store/subscription-keys.ts';
import type { StackAddress } from './stack-process.ts';

export const projectId = 'bench';
/** One in this many subscriptions is gone. */
const goneEvery = 100;
/** The maximum of BatchWriteItem. */
const batchItems = 25;
const concurrentBatches = 8;
/** Number of key pairs. Further subscriptions share them. */
const keyPairs = 500;

/**
 * Creates a project and writes its subscriptions into the tables.
 * @returns the project's secret key.
 */
export async function seed(
  { endpoint, tables }: Pick<StackAddress, 'endpoint' | 'tables'>,
  pushOrigin: string,
  subscribers: number,
  onProgress: (written: number) => void,
): Promise<string> {
  const dynamo = documentClient(localConfig(endpoint));
  try {
    const registry = projectRegistry(dynamo, projectTables(tables), () => new Date());
    const { project, secretKey } = await registry.create({
      projectId,
      // The benchmark reads the notification several times per second.
      plan: { rateLimitPerMinute: null },
      random: randomBytes,
    });
    const items = subscriptions(project.ref, pushOrigin, subscribers);
    let written = 0;
    const worker = async () => {
      for (let batch = takeBatch(items); batch.length > 0; batch = takeBatch(items)) {
        await writeBatch(dynamo, tables.SUBSCRIPTIONS_TABLE!, batch);
        written += batch.length;
        onProgress(written);
      }
    };
    await Promise.all(Array.from({ length: concurrentBatches }, worker));
    for (const Item of newSubscriberParts(project.ref, subscribers)) {
      await dynamo.send(new PutCommand({ TableName: tables.USAGE_TABLE!, Item }));
    }
    return secretKey;
  } finally {
    dynamo.destroy();
  }
}

function* subscriptions(
  project: ProjectRef,
  origin: string,
  count: number,
): Generator<SubscriptionItem, void> {
  const curve = createECDH('prime256v1');
  const keys = Array.from({ length: Math.min(keyPairs, count) }, () => ({
    p256dh: curve.generateKeys(),
    auth: randomBytes(16),
  }));
  const now = Date.now();
  for (let index = 0; index < count; index += 1) {
    const folder = index % goneEvery === 0 ? 'gone' : 'push';
    // As long as an FCM endpoint.
    const path = `/${folder}/${randomBytes(115).toString('base64url')}`;
    yield {
      ...subscriptionKey(project, endpointHash(origin + path)),
      origin,
      path,
      ...keys[index % keys.length]!,
      createdAt: now,
      updatedAt: now,
    };
  }
}

function takeBatch(items: Iterator<SubscriptionItem, void>): SubscriptionItem[] {
  const batch: SubscriptionItem[] = [];
  while (batch.length < batchItems) {
    const { value } = items.next();
    if (value === undefined) break;
    batch.push(value);
  }
  return batch;
}

async function writeBatch(
  dynamo: DynamoDBDocumentClient,
  table: string,
  batch: readonly SubscriptionItem[],
): Promise<void> {
  const requests = batch.map((Item) => ({ PutRequest: { Item } }));
  const { UnprocessedItems = {} } = await dynamo.send(
    new BatchWriteCommand({ RequestItems: { [table]: requests } }),
  );
  if (UnprocessedItems[table]?.length) {
    throw new Error('The database left items of a batch unprocessed.');
  }
}
