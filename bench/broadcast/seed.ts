import { createECDH, randomBytes } from 'node:crypto';
import {
  BatchWriteCommand,
  type DynamoDBDocumentClient,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { projectRegistry } from '../../admin/project-registry.ts';
import { documentClient } from '../../lambdas/store/dynamo.ts';
import { type SubscriptionItem, subscribersPeriod } from '../../lambdas/store/items.ts';
import { endpointHash } from '../../lambdas/store/subscriptions.ts';
import { projectTables } from '../../local/dynamodb/table-names.ts';
import { localRegion } from '../../local/template/references.ts';
import type { StackPlace } from './stack-process.ts';

export const projectId = 'bench';
/** One in so many subscriptions is gone, as its push service will say. */
export const goneEvery = 100;

const batchSize = 25;
const batchesAtOnce = 8;
/** Browsers there are; subscriptions beyond share their keys. */
const browsers = 500;

/**
 * Makes a project and writes its subscriptions into the tables, as many as there shall be.
 * @returns the project's secret key.
 */
export async function seed(
  { endpoint, tables }: Pick<StackPlace, 'endpoint' | 'tables'>,
  pushOrigin: string,
  subscribers: number,
  onProgress: (written: number) => void,
): Promise<string> {
  const dynamo = documentClient({
    endpoint,
    region: localRegion,
    credentials: { accessKeyId: 'bench', secretAccessKey: 'local' },
  });
  try {
    const registry = projectRegistry(dynamo, projectTables(tables), () => new Date());
    const { secretKey } = await registry.create({ projectId, random: randomBytes });
    const items = subscriptions(pushOrigin, subscribers);
    let written = 0;
    const worker = async () => {
      for (let batch = take(items); batch.length > 0; batch = take(items)) {
        await write(dynamo, tables.SUBSCRIPTIONS_TABLE!, batch);
        written += batch.length;
        onProgress(written);
      }
    };
    await Promise.all(Array.from({ length: batchesAtOnce }, worker));
    await dynamo.send(
      new UpdateCommand({
        TableName: tables.USAGE_TABLE!,
        Key: { projectId, period: subscribersPeriod },
        UpdateExpression: 'SET used = :subscribers',
        ExpressionAttributeValues: { ':subscribers': subscribers },
      }),
    );
    return secretKey;
  } finally {
    dynamo.destroy();
  }
}

function* subscriptions(origin: string, number: number): Generator<SubscriptionItem, void> {
  const curve = createECDH('prime256v1');
  const keys = Array.from({ length: Math.min(browsers, number) }, () => ({
    p256dh: curve.generateKeys('base64url'),
    auth: randomBytes(16).toString('base64url'),
  }));
  const now = new Date().toISOString();
  for (let index = 0; index < number; index += 1) {
    const folder = index % goneEvery === 0 ? 'gone' : 'push';
    // As long as endpoints of Chrome's push service are.
    const endpoint = `${origin}/${folder}/${randomBytes(115).toString('base64url')}`;
    yield {
      projectId,
      endpointHash: endpointHash(endpoint),
      endpoint,
      ...keys[index % keys.length]!,
      createdAt: now,
      updatedAt: now,
    };
  }
}

function take(items: Iterator<SubscriptionItem, void>): SubscriptionItem[] {
  const batch: SubscriptionItem[] = [];
  while (batch.length < batchSize) {
    const { value } = items.next();
    if (value === undefined) break;
    batch.push(value);
  }
  return batch;
}

async function write(
  dynamo: DynamoDBDocumentClient,
  table: string,
  batch: readonly SubscriptionItem[],
): Promise<void> {
  const requests = batch.map((Item) => ({ PutRequest: { Item } }));
  const { UnprocessedItems = {} } = await dynamo.send(
    new BatchWriteCommand({ RequestItems: { [table]: requests } }),
  );
  if (UnprocessedItems[table]?.length) throw new Error('The database took only some of a batch.');
}
