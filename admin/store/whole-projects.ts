import {
  type DynamoDBDocumentClient,
  GetCommand,
  paginateQuery,
  paginateScan,
} from '@aws-sdk/lib-dynamodb';
import type { RestoredTables } from '../../contract/infrastructure/tables.ts';
import type { ProjectRef } from '../../contract/wire/project.ts';
import { subscriberCounter } from '../../lambdas/store/counters.ts';
import type {
  ErasureItem,
  IdentityKeyItem,
  ProjectItem,
  RemovedProjectItem,
  UsageItem,
  VapidKeyItem,
} from '../../lambdas/store/items.ts';
import { erasurePages, subscriptionPages } from './all-subscriptions.ts';

/** The keys of a project, as far as their tables have them. */
export interface ProjectKeyItems {
  readonly vapidKey: VapidKeyItem | undefined;
  readonly identityKey: IdentityKeyItem | undefined;
}

/** Reads projects with all that they own but results, from a stack's tables or from tables of a backup. */
export class WholeProjects {
  readonly #dynamo: DynamoDBDocumentClient;
  readonly #tables: RestoredTables;

  constructor(dynamo: DynamoDBDocumentClient, tables: RestoredTables) {
    this.#dynamo = dynamo;
    this.#tables = tables;
  }

  /** The ids of all projects, in their order. */
  async ids(): Promise<readonly string[]> {
    const found: string[] = [];
    const { projects: TableName } = this.#tables;
    const query = { TableName, ProjectionExpression: 'projectId' };
    for await (const { Items = [] } of paginateScan({ client: this.#dynamo }, query)) {
      found.push(...Items.map(({ projectId }) => projectId));
    }
    return found.sort();
  }

  /** @returns undefined for one that was being removed, or had not arrived. */
  async find(
    projectId: string,
  ): Promise<({ readonly project: ProjectItem } & ProjectKeyItems) | undefined> {
    const { projects } = this.#tables;
    const project = await this.#read<ProjectItem | RemovedProjectItem>(projects, projectId);
    if (project === undefined || 'removed' in project) return undefined;
    return { project, ...(await this.keysOf(projectId)) };
  }

  async keysOf(projectId: string): Promise<ProjectKeyItems> {
    const { vapidKeys, identityKeys } = this.#tables;
    return {
      vapidKey: await this.#read(vapidKeys, projectId),
      identityKey: await this.#read(identityKeys, projectId),
    };
  }

  /** What a project has used: the notifications of each UTC month, and its subscribers. */
  async usageOf(project: ProjectRef) {
    const { usage } = this.#tables;
    const pages = paginateQuery(
      { client: this.#dynamo },
      {
        TableName: usage,
        KeyConditionExpression: 'projectRef = :project',
        ExpressionAttributeValues: { ':project': project },
        ConsistentRead: true,
      },
    );
    const months = new Map<string, number>();
    let subscribers: number | undefined;
    const { name: subscribersName } = subscriberCounter(usage, project);
    for await (const { Items = [] } of pages) {
      for (const { period, used } of Items as UsageItem[]) {
        const [name = ''] = period.split('#');
        if (name === subscribersName) subscribers = (subscribers ?? 0) + used;
        else months.set(name, (months.get(name) ?? 0) + used);
      }
    }
    return { months: months as ReadonlyMap<string, number>, subscribers };
  }

  subscriptionsOf(project: ProjectRef) {
    return subscriptionPages(this.#dynamo, this.#tables.subscriptions, project);
  }

  /** The hashes of the endpoints that were erased. */
  erasuresOf(project: ProjectRef): AsyncGenerator<readonly ErasureItem[]> {
    return erasurePages(this.#dynamo, this.#tables.subscriptions, project);
  }

  async #read<Item>(TableName: string, projectId: string): Promise<Item | undefined> {
    const { Item } = await this.#dynamo.send(
      new GetCommand({ TableName, Key: { projectId }, ConsistentRead: true }),
    );
    return Item as Item | undefined;
  }
}
