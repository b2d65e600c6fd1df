import {
  type DynamoDBDocumentClient,
  GetCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Plan, VapidKeys } from '../contract/project.ts';
import { utcMonth } from '../lambdas/store/calendar.ts';
import {
  cancellationReasons,
  conditionFailed,
  isConditionFailure,
} from '../lambdas/store/dynamo.ts';
import {
  type ProjectItem,
  subscribersPeriod,
  type UsageItem,
  type VapidKeyItem,
} from '../lambdas/store/items.ts';
import { ProjectExists, ProjectNotFound, ProjectRemovalIncomplete } from './project-errors.ts';
import { type RemovedItems, removeProject } from './project-removal.ts';
import type { ProjectTables } from './project-tables.ts';
import { hashSecretKey, newSecretKey, type RandomSource } from './secret-key.ts';
import { newVapidPair } from './vapid-pair.ts';

/** A project without the hashes of its secret keys. */
export type RegisteredProject = Omit<ProjectItem, 'apiKeyHash' | 'previousKeyHash'>;

/** A project with a new secret key. Only the hash is stored: no later call can return the key. */
export interface NewKey {
  readonly project: RegisteredProject;
  readonly secretKey: string;
}

export interface NewProject {
  /** Matches `projectIdPattern`. */
  readonly projectId: string;
  /** @default the id */
  readonly name?: string;
  readonly plan?: Plan;
  /** @default a new pair */
  readonly vapid?: VapidKeys;
  readonly random: RandomSource;
}

/** The limits to change: a number, null for no limit, or `default` for the deployment's setting. */
export type PlanChange = { readonly [Limit in keyof Plan]?: number | null | 'default' };

export interface ProjectUsage {
  readonly subscribers: number;
  /** The UTC month of `sends`, such as `2026-11`. */
  readonly month: string;
  readonly sends: number;
}

export type ProjectRegistry = ReturnType<typeof projectRegistry>;

const publicFields = {
  ProjectionExpression: 'projectId, #name, vapidPublicKey, #plan, createdAt, previousKeyUntil',
  ExpressionAttributeNames: { '#name': 'name', '#plan': 'plan' },
};

/** Creates, changes and removes projects. */
export function projectRegistry(
  dynamo: DynamoDBDocumentClient,
  tables: ProjectTables,
  clock: () => Date,
) {
  async function find(projectId: string): Promise<RegisteredProject | undefined> {
    const { Item } = await dynamo.send(
      new GetCommand({
        TableName: tables.projects,
        Key: { projectId },
        ConsistentRead: true,
        ...publicFields,
      }),
    );
    return Item as RegisteredProject | undefined;
  }

  /** @throws {ProjectNotFound} */
  async function update(projectId: string, change: ProjectUpdate): Promise<RegisteredProject> {
    try {
      const { Attributes } = await dynamo.send(
        new UpdateCommand({
          TableName: tables.projects,
          Key: { projectId },
          ConditionExpression: 'attribute_exists(projectId)',
          ReturnValues: 'ALL_NEW',
          ...change,
        }),
      );
      return withoutHashes(Attributes as ProjectItem);
    } catch (error) {
      throw isConditionFailure(error) ? new ProjectNotFound(projectId) : error;
    }
  }

  return {
    /**
     * Creates a project, its VAPID key and its subscriber counter in one transaction.
     * @throws {ProjectExists}
     * @throws {ProjectRemovalIncomplete} if an earlier project's subscriptions may be left, which
     *   the new counter would not count.
     */
    async create({ projectId, name, plan, vapid, random }: NewProject): Promise<NewKey> {
      const { publicKey, privateKey } = vapid ?? newVapidPair();
      const secretKey = newSecretKey(random);
      const project: ProjectItem = {
        projectId,
        name: name ?? projectId,
        apiKeyHash: hashSecretKey(secretKey),
        vapidPublicKey: publicKey,
        plan: plan ?? {},
        createdAt: clock().toISOString(),
      };
      const key: VapidKeyItem = { projectId, privateKey };
      const counter: UsageItem = { projectId, period: subscribersPeriod, used: 0 };
      const isNew = 'attribute_not_exists(projectId)';
      try {
        await dynamo.send(
          new TransactWriteCommand({
            TransactItems: [
              { Put: { TableName: tables.projects, Item: project, ConditionExpression: isNew } },
              { Put: { TableName: tables.vapidKeys, Item: key, ConditionExpression: isNew } },
              { Put: { TableName: tables.usage, Item: counter, ConditionExpression: isNew } },
            ],
          }),
        );
      } catch (error) {
        const [projectReason, , counterReason] = cancellationReasons(error);
        if (conditionFailed(projectReason)) throw new ProjectExists(projectId);
        throw conditionFailed(counterReason) ? new ProjectRemovalIncomplete(projectId) : error;
      }
      return { project: withoutHashes(project), secretKey };
    },

    find,

    /** All projects, unordered. */
    async *list(): AsyncGenerator<RegisteredProject> {
      let startKey: Record<string, unknown> | undefined;
      do {
        const page = await dynamo.send(
          new ScanCommand({
            TableName: tables.projects,
            ...publicFields,
            ...(startKey && { ExclusiveStartKey: startKey }),
          }),
        );
        yield* (page.Items ?? []) as RegisteredProject[];
        startKey = page.LastEvaluatedKey;
      } while (startKey);
    },

    /**
     * Changes the given limits and keeps the others.
     * @throws {ProjectNotFound}
     */
    setPlan(projectId: string, changes: PlanChange): Promise<RegisteredProject> {
      return update(projectId, planUpdate(changes));
    },

    /**
     * Replaces the secret key. The previous key stays valid for the grace period, and for as long
     * as the functions cache the project. An older key becomes invalid.
     * @param gracePeriodMs 0 for no grace period.
     * @throws {ProjectNotFound}
     */
    async rotateKey(projectId: string, random: RandomSource, gracePeriodMs = 0): Promise<NewKey> {
      const secretKey = newSecretKey(random);
      const hash = { ':hash': hashSecretKey(secretKey) };
      const previousKeyUntil = new Date(clock().getTime() + gracePeriodMs).toISOString();
      const project = await update(
        projectId,
        gracePeriodMs === 0
          ? {
              UpdateExpression: 'SET apiKeyHash = :hash REMOVE previousKeyHash, previousKeyUntil',
              ExpressionAttributeValues: hash,
            }
          : {
              UpdateExpression:
                'SET previousKeyHash = apiKeyHash, previousKeyUntil = :until, apiKeyHash = :hash',
              ExpressionAttributeValues: { ...hash, ':until': previousKeyUntil },
            },
      );
      return { project, secretKey };
    },

    /** See {@link removeProject}. @throws {ProjectNotFound} */
    remove(
      projectId: string,
      random: RandomSource,
      onProgress?: (soFar: RemovedItems) => void,
    ): Promise<RemovedItems> {
      return removeProject(dynamo, tables, projectId, random, onProgress);
    },

    /** The number of subscribers, and of notifications sent in the current UTC month. */
    async usage(projectId: string): Promise<ProjectUsage> {
      const readCount = async (period: string): Promise<number> => {
        const { Item } = await dynamo.send(
          new GetCommand({ TableName: tables.usage, Key: { projectId, period } }),
        );
        return (Item as UsageItem | undefined)?.used ?? 0;
      };
      const month = utcMonth(clock());
      const [subscribers, sends] = await Promise.all([
        readCount(subscribersPeriod),
        readCount(month),
      ]);
      return { subscribers, month, sends };
    },
  };
}

/** Parameters of an `UpdateCommand`. */
interface ProjectUpdate {
  readonly UpdateExpression: string;
  readonly ExpressionAttributeNames?: Record<string, string>;
  readonly ExpressionAttributeValues?: Record<string, unknown>;
}

function withoutHashes(item: ProjectItem): RegisteredProject {
  const { apiKeyHash, previousKeyHash, ...project } = item;
  return project;
}

function planUpdate(changes: PlanChange): ProjectUpdate {
  const names: Record<string, string> = { '#plan': 'plan' };
  const values: Record<string, number | null | undefined> = {};
  const set: string[] = [];
  const remove: string[] = [];
  for (const [limit, value] of Object.entries(changes)) {
    names[`#${limit}`] = limit;
    if (value === 'default') {
      remove.push(`#plan.#${limit}`);
    } else {
      set.push(`#plan.#${limit} = :${limit}`);
      values[`:${limit}`] = value;
    }
  }
  const clauses = [
    ...(set.length > 0 ? [`SET ${set.join(', ')}`] : []),
    ...(remove.length > 0 ? [`REMOVE ${remove.join(', ')}`] : []),
  ];
  return {
    UpdateExpression: clauses.join(' '),
    ExpressionAttributeNames: names,
    ...(set.length > 0 && { ExpressionAttributeValues: values }),
  };
}
