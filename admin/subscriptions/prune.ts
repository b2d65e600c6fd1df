import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { ProjectRef } from '../../contract/project.ts';
import { sliceSizes } from '../../contract/slice-sizes.ts';
import type { SubscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { subscriptionPages } from './subscription-pages.ts';

export interface PruneDependencies {
  readonly dynamo: DynamoDBDocumentClient;
  /** Name of the table Subscriptions. */
  readonly table: string;
  readonly subscriptions: Pick<SubscriptionStore, 'removeUnseen'>;
}

/**
 * Removes the subscriptions of a project whose last subscribe request was before a time. Removals and counters change in
 * the same transactions: if it is interrupted, the same call again removes the rest.
 * @param before epoch ms.
 * @param dryRun only counts what would be removed.
 * @returns how many were read and removed, and read and kept.
 */
export async function pruneSubscriptions(
  { dynamo, table, subscriptions }: PruneDependencies,
  project: ProjectRef,
  before: number,
  dryRun: boolean,
  onProgress: (read: number) => void = () => {},
) {
  let [removed, read] = [0, 0];
  const pages = subscriptionPages(dynamo, table, project, {
    ProjectionExpression: 'endpointHash, updatedAt',
  });
  for await (const items of pages) {
    const unseen = items.filter(({ updatedAt }) => updatedAt < before);
    if (dryRun) removed += unseen.length;
    for (let at = 0; !dryRun && at < unseen.length; at += sliceSizes.removalBatch) {
      const batch = unseen.slice(at, at + sliceSizes.removalBatch);
      const hashes = batch.map(({ endpointHash }) => endpointHash);
      removed += await subscriptions.removeUnseen(project, before, hashes);
      onProgress(read + at + batch.length);
    }
    read += items.length;
    onProgress(read);
  }
  return { removed, kept: read - removed };
}
