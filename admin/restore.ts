import {
  type DynamoDBDocumentClient,
  GetCommand,
  paginateQuery,
  paginateScan,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import {
  monthCounter,
  newParts,
  readParts,
  subscriberCounter,
  sumOf,
} from '../lambdas/store/counters.ts';
import { cancellationReasons, conditionFailed } from '../lambdas/store/dynamo.ts';
import type {
  IdentityKeyItem,
  ProjectItem,
  RemovedProjectItem,
  UsageItem,
  VapidKeyItem,
} from '../lambdas/store/items.ts';
import { CommandError, removalIncomplete } from './errors.ts';
import { addProject } from './project-registry.ts';
import type { RestoredTables } from './project-tables.ts';
import { applicationServerKeys } from './registered-project.ts';
import { wrongTable } from './restored-tables.ts';
import { type ImportDependencies, importSubscriptions } from './subscriptions/import.ts';
import type { ImportCounts, ImportedSubscription } from './subscriptions/import-batch.ts';
import { subscriptionPages } from './subscriptions/subscription-pages.ts';
import { isVapidPair } from './vapid-pair.ts';

interface RestoreSide {
  readonly dynamo: DynamoDBDocumentClient;
  readonly tables: RestoredTables;
}

/** Result of a restore for one project. */
export interface RestoredProject extends ImportCounts {
  readonly projectId: string;
  /** `other`: the stack has a later project of this id. Nothing was restored. */
  readonly project: 'created' | 'exists' | 'other';
  /** Subscriptions left out: the stack's project has dropped their application server key since. */
  readonly keyDropped: number;
}

export interface RestoreDependencies extends Omit<ImportDependencies, 'projectId'> {
  /** Changes nothing. `importBatch` must be of a dry run, too. */
  readonly dryRun?: boolean | undefined;
  /** Called with the number of subscriptions that were read so far, of all projects. */
  readonly onProgress?: (subscriptions: number) => void;
}

/**
 * Copies projects with their keys, subscriptions and months from tables that were restored from a backup. It only adds
 * and never replaces, except subscriptions that were updated later. Subscriptions are counted while they are added: the
 * counter of the backup is not used, which may be of another moment. Can be repeated after an interruption.
 */
export async function* restoreProjects(
  from: RestoreSide,
  to: RestoreSide,
  { dryRun = false, onProgress = () => {}, ...deps }: RestoreDependencies,
): AsyncGenerator<RestoredProject> {
  let read = 0;
  const nothing = { created: 0, updated: 0, unchanged: 0, overCap: 0, keyDropped: 0 };
  const pages = paginateScan({ client: from.dynamo }, { TableName: from.tables.projects });
  for await (const { Items = [] } of pages) {
    for (const item of Items as (ProjectItem | RemovedProjectItem)[]) {
      // It was being removed.
      if ('removed' in item) continue;
      const { projectId } = item;
      const existing = await restoreProject(item);
      if (existing !== undefined && existing.ref !== item.ref) {
        yield { projectId, project: 'other', ...nothing };
        continue;
      }
      if (!dryRun) await restoreMonths(item);
      const counts = await restoreSubscriptions(existing ?? item);
      yield { projectId, project: existing === undefined ? 'created' : 'exists', ...counts };
    }
  }

  /** @returns the stack's project of this id, if it has one. Then nothing is changed. */
  async function restoreProject(item: ProjectItem): Promise<ProjectItem | undefined> {
    const key = { projectId: item.projectId };
    const { projects, vapidKeys, identityKeys } = from.tables;
    const read = async <Item>(TableName: string) =>
      (await from.dynamo.send(new GetCommand({ TableName, Key: key }))).Item as Item | undefined;
    const vapidKey = await read<VapidKeyItem>(vapidKeys);
    const identity = await read<IdentityKeyItem>(identityKeys);
    const areExchanged =
      item.vapidPublicKey === undefined ||
      (vapidKey !== undefined && vapidKey.privateKey === undefined) ||
      (identity !== undefined && identity.identityKey === undefined);
    if (areExchanged) {
      throw wrongTable(
        `"${projects}", "${vapidKeys}" and "${identityKeys}" are not the restored tables Projects, VapidKeys and IdentityKeys. Were they exchanged?`,
      );
    }
    if (identity === undefined || vapidKey === undefined || !haveSameKeys(item, vapidKey)) {
      throw new CommandError(
        'restored_keys_mismatch',
        `The restored tables Projects, VapidKeys and IdentityKeys do not have the same keys of project "${item.projectId}", ` +
          'which was changed at that moment. Restore all of them to an earlier second.',
      );
    }
    return dryRun ? readExisting(key) : addProject(to.dynamo, to.tables, item, vapidKey, identity);
  }

  /** @throws {CommandError} if an earlier project is not fully removed. */
  async function readExisting(Key: { projectId: string }): Promise<ProjectItem | undefined> {
    const { Item } = await to.dynamo.send(
      new GetCommand({ TableName: to.tables.projects, Key, ConsistentRead: true }),
    );
    if (Item?.removed) throw removalIncomplete(Key.projectId);
    return Item as ProjectItem | undefined;
  }

  async function restoreMonths(project: ProjectItem): Promise<void> {
    const { ref } = project;
    const pages = paginateQuery(
      { client: from.dynamo },
      {
        TableName: from.tables.usage,
        KeyConditionExpression: 'projectRef = :project',
        ExpressionAttributeValues: { ':project': ref },
      },
    );
    const months = new Map<string, number>();
    const { name: subscribers } = subscriberCounter(from.tables.usage, ref);
    for await (const { Items = [] } of pages) {
      for (const { period, used } of Items as UsageItem[]) {
        const [name] = period.split('#');
        if (name !== subscribers) months.set(name!, (months.get(name!) ?? 0) + used);
      }
    }
    for (const [month, used] of months) await restoreMonth(project, month, used);
  }

  /** Divides the month evenly, so that each part stays within its share of the cap. */
  async function restoreMonth(project: ProjectItem, month: string, used: number): Promise<void> {
    const counter = monthCounter(to.tables.usage, project.ref, new Date(month));
    for (;;) {
      const parts = await readParts(to.dynamo, counter);
      // A month goes on after the backup.
      if (sumOf(parts) >= used) return;
      const TransactItems = newParts(counter, used).map((Item, part) => {
        const read = parts[part];
        return {
          Put: {
            TableName: to.tables.usage,
            Item,
            ConditionExpression: read === undefined ? 'attribute_not_exists(used)' : 'used = :read',
            ExpressionAttributeValues: read === undefined ? undefined : { ':read': read },
          },
        };
      });
      try {
        await to.dynamo.send(new TransactWriteCommand({ TransactItems }));
        return;
      } catch (error) {
        // Counted meanwhile.
        if (!cancellationReasons(error).some(conditionFailed)) throw error;
      }
    }
  }

  async function restoreSubscriptions(project: ProjectItem) {
    const { projectId, ref } = project;
    const keys = applicationServerKeys(project);
    let keyDropped = 0;
    const counts = await importSubscriptions(usable(), { projectId, ...deps });
    return { ...counts, keyDropped };

    async function* usable(): AsyncGenerator<ImportedSubscription> {
      const { dynamo, tables } = from;
      for await (const items of subscriptionPages(dynamo, tables.subscriptions, ref)) {
        for (const item of items) {
          const vapidPairNumber = item.vapidPairNumber ?? 0;
          if (keys.has(vapidPairNumber)) yield { ...item, vapidPairNumber };
          else keyDropped += 1;
        }
        read += items.length;
        onProgress(read);
      }
    }
  }
}

/** Two restored tables may show different moments of one transaction, such as that of a rotation. */
function haveSameKeys(
  { vapidPublicKey, previousVapidPublicKey }: ProjectItem,
  { privateKey, previousPrivateKey }: VapidKeyItem,
): boolean {
  const pairs = [
    [vapidPublicKey, privateKey],
    [previousVapidPublicKey, previousPrivateKey],
  ] as const;
  return pairs.every(
    ([publicKey, secret]) =>
      publicKey === undefined ||
      (secret !== undefined && isVapidPair({ publicKey, privateKey: secret })),
  );
}
