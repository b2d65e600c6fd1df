import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { subscriptionPages } from '../../lambdas/store/all-subscriptions.ts';
import { applicationServerKeys } from '../../lambdas/store/registered-projects.ts';
import type { ProjectRegistry } from '../project-registry.ts';
import { exportLine } from './line.ts';

/**
 * The lines of a project's subscriptions, page by page. Those whose application server key was dropped are left
 * out: nobody can push to them, and `rotate vapid --drop-previous` removes them.
 * @throws {ProjectNotFound}
 */
export async function* exportPages(
  dynamo: DynamoDBDocumentClient,
  table: string,
  registry: Pick<ProjectRegistry, 'get'>,
  projectId: string,
): AsyncGenerator<readonly string[]> {
  const { ref } = await registry.get(projectId);
  for await (const items of subscriptionPages(dynamo, table, ref)) {
    // Read after the page, which may have subscriptions of a key that is newer than the page before.
    const keys = applicationServerKeys(await registry.get(projectId));
    yield items.flatMap((item) => {
      const key = keys.get(item.vapidPairNumber ?? 0);
      return key === undefined ? [] : [`${exportLine(ref, item, key)}\n`];
    });
  }
}
