import { createECDH, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { localConfig } from '../../admin/local-config.ts';
import { projectRegistry } from '../../admin/project-registry.ts';
import { projectTables } from '../../admin/project-tables.ts';

import { documentClient } from '../../lambdas/store/dynamo.ts';
import { endpointHash, type KeyedProject, subscriptionKey } from '../../lambdas/store/items.ts';
import { projectStore } from '../../lambdas/store/projects.ts';
import {
  batchImport,
  type ImportedSubscription,
  importSubscriptions,
} from '../../lambdas/store/subscription-import.ts';
import type { Stack } from '../../local/stack.ts';

export const projectId = 'bench';
/** One in this many subscriptions is gone. */
const goneEvery = 100;
/** Number of key pairs. Further subscriptions share them. */
const keyPairs = 500;

/**
 * Creates a project and writes its subscriptions into the tables.
 * @returns the project's secret key.
 */
export async function seed(
  { endpoint, tables }: Stack['dynamodb'],
  pushOrigin: string,
  subscribers: number,
): Promise<string> {
  const dynamo = documentClient(localConfig(endpoint));
  const clock = () => new Date();
  try {
    const names = projectTables(tables);
    const { secretKey } = await projectRegistry(dynamo, names, clock).create({
      projectId,
      // The benchmark reads the notification several times per second.
      plan: { rateLimitPerMinute: null, subscriberCap: null },
      random: randomBytes,
    });
    const projects = projectStore(dynamo, names.projects, clock);
    const importBatch = batchImport(dynamo, names, projects, subscribers);
    const project = await projects.find(projectId);
    const items = subscriptions(project!, pushOrigin, subscribers);
    await importSubscriptions(items, { projectId, importBatch, sleep });
    return secretKey;
  } finally {
    dynamo.destroy();
  }
}

async function* subscriptions(
  project: KeyedProject,
  origin: string,
  count: number,
): AsyncGenerator<ImportedSubscription> {
  const curve = createECDH('prime256v1');
  const keys = Array.from({ length: Math.min(keyPairs, count) }, () => ({
    p256dh: curve.generateKeys(),
    auth: randomBytes(16),
  }));
  const now = Date.now();
  for (let index = 0; index < count; index += 1) {
    const folder = index % goneEvery === 0 ? 'gone' : 'push';
    // Its length is that of an FCM endpoint.
    const path = `/${folder}/${randomBytes(115).toString('base64url')}`;
    yield {
      ...subscriptionKey(project.ref, endpointHash(project, origin + path)),
      origin,
      path,
      ...keys[index % keys.length]!,
      createdAt: now,
      updatedAt: now,
      vapidPairNumber: 0,
    };
  }
}
