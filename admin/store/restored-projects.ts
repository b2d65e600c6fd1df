import {
  type DynamoDBDocumentClient,
  GetCommand,
  paginateQuery,
  paginateScan,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import type { RestoredTables } from '../../contract/infrastructure/tables.ts';
import type { ProjectRef } from '../../contract/wire/project.ts';
import {
  type Counter,
  monthCounter,
  newParts,
  readParts,
  subscriberCounter,
  sumOf,
} from '../../lambdas/store/counters.ts';
import { cancellationReasons, conditionFailed } from '../../lambdas/store/dynamo.ts';
import type {
  IdentityKeyItem,
  ProjectItem,
  RemovedProjectItem,
  UsageItem,
  VapidKeyItem,
} from '../../lambdas/store/items.ts';

/** A project of a backup, with its keys as far as their tables have them. */
export interface RestoredItems {
  readonly project: ProjectItem;
  readonly vapidKey: VapidKeyItem | undefined;
  readonly identityKey: IdentityKeyItem | undefined;
}

/** Reads tables that were restored from a backup. Nobody changes them. */
export class RestoredProjects {
  readonly #dynamo: DynamoDBDocumentClient;
  readonly #tables: RestoredTables;

  constructor(dynamo: DynamoDBDocumentClient, tables: RestoredTables) {
    this.#dynamo = dynamo;
    this.#tables = tables;
  }

  /** All projects but those that were being removed, unordered. */
  async *allItems(): AsyncGenerator<RestoredItems> {
    const { projects, vapidKeys, identityKeys } = this.#tables;
    const pages = paginateScan({ client: this.#dynamo }, { TableName: projects });
    for await (const { Items = [] } of pages) {
      for (const project of Items as (ProjectItem | RemovedProjectItem)[]) {
        if ('removed' in project) continue;
        const { projectId } = project;
        const vapidKey = await this.#read<VapidKeyItem>(vapidKeys, projectId);
        const identityKey = await this.#read<IdentityKeyItem>(identityKeys, projectId);
        yield { project, vapidKey, identityKey };
      }
    }
  }

  async #read<Item>(TableName: string, projectId: string): Promise<Item | undefined> {
    const { Item } = await this.#dynamo.send(new GetCommand({ TableName, Key: { projectId } }));
    return Item as Item | undefined;
  }

  /** The notifications that a project has sent in each UTC month. */
  async monthsOf(project: ProjectRef): Promise<ReadonlyMap<string, number>> {
    const { usage } = this.#tables;
    const pages = paginateQuery(
      { client: this.#dynamo },
      {
        TableName: usage,
        KeyConditionExpression: 'projectRef = :project',
        ExpressionAttributeValues: { ':project': project },
      },
    );
    const months = new Map<string, number>();
    const { name: subscribers } = subscriberCounter(usage, project);
    for await (const { Items = [] } of pages) {
      for (const { period, used } of Items as UsageItem[]) {
        const [name = ''] = period.split('#');
        if (name !== subscribers) months.set(name, (months.get(name) ?? 0) + used);
      }
    }
    return months;
  }
}

/**
 * Raises the count of a month to that of the backup, unless it is as high: a month goes on after the backup. It is
 * divided evenly, so that each part stays within its share of the cap.
 */
export async function restoreMonth(
  dynamo: DynamoDBDocumentClient,
  usageTable: string,
  project: ProjectRef,
  month: string,
  used: number,
): Promise<void> {
  const counter: Counter = monthCounter(usageTable, project, new Date(month));
  for (;;) {
    const parts = await readParts(dynamo, counter);
    if (sumOf(parts) >= used) return;
    const TransactItems = newParts(counter, used).map((Item, part) => {
      const read = parts[part];
      return {
        Put: {
          TableName: usageTable,
          Item,
          ConditionExpression: read === undefined ? 'attribute_not_exists(used)' : 'used = :read',
          ExpressionAttributeValues: read === undefined ? undefined : { ':read': read },
        },
      };
    });
    try {
      await dynamo.send(new TransactWriteCommand({ TransactItems }));
      return;
    } catch (error) {
      // Counted meanwhile.
      if (!cancellationReasons(error).some(conditionFailed)) throw error;
    }
  }
}
