import {
  type DynamoDBDocumentClient,
  GetCommand,
  paginateScan,
  TransactWriteCommand,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { identityKeyPrefix, secretKeyPrefix } from '../contract/formats.ts';
import type { Plan, ProjectRef, UserIdMode, VapidKeys } from '../contract/project.ts';
import {
  newSubscriberParts,
  type ProjectUsage,
  projectUsage,
  utcMonth,
} from '../lambdas/store/counters.ts';
import {
  attributeChanges,
  cancellationReasons,
  conditionFailed,
  isConditionFailure,
} from '../lambdas/store/dynamo.ts';
import type { IdentityKeyItem, ProjectItem, VapidKeyItem } from '../lambdas/store/items.ts';
import { CommandError, ProjectNotFound, removalIncomplete } from './errors.ts';
import { hashKey, newKey, type RandomSource } from './project-keys.ts';
import { projectMembers } from './project-members.ts';
import { type RemovalOptions, type RemovedItems, removeProject } from './project-removal.ts';
import type { ProjectTables, RestoredTables } from './project-tables.ts';
import type { RegisteredProject } from './registered-project.ts';
import { newVapidPair } from './vapid-pair.ts';
import { vapidRotation } from './vapid-rotation.ts';

export interface NewProject {
  /** Matches `projectIdPattern`. */
  readonly projectId: string;
  /** @default the id */
  readonly name?: string;
  readonly plan?: Plan;
  /**
   * The deployment's subscriber cap, which applies if the plan has none: the counter is divided for it.
   * @default unknown: the first subscription takes three calls more.
   */
  readonly deployedCap?: number;
  /** @default "open" */
  readonly userIds?: UserIdMode;
  /** @default a new pair */
  readonly vapid?: VapidKeys;
  readonly random: RandomSource;
}

/** Limits to change: a number, null for no limit, or `default` for the deployment's setting. */
export type PlanChange = { readonly [Limit in keyof Plan]?: number | null | 'default' };

export type ProjectRegistry = ReturnType<typeof projectRegistry>;

const publicFields = {
  ProjectionExpression:
    'projectId, #ref, removed, #name, vapidPublicKey, vapidPair, previousVapidPublicKey, vapidRotatedAt, #plan, createdAt, previousKeyUntil, ' +
    'userIds, previousIdentityKeyUntil',
  ExpressionAttributeNames: { '#ref': 'ref', '#name': 'name', '#plan': 'plan' },
};

const projectExists = 'attribute_exists(secretKeyHash)';

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
    return Item === undefined || 'removed' in Item ? undefined : (Item as RegisteredProject);
  }

  /** @throws {ProjectNotFound} */
  async function get(projectId: string): Promise<RegisteredProject> {
    const project = await find(projectId);
    if (project === undefined) throw new ProjectNotFound(projectId);
    return project;
  }

  /** @throws {ProjectNotFound} */
  async function update(
    projectId: string,
    change: Partial<UpdateCommandInput>,
  ): Promise<RegisteredProject> {
    try {
      const { Attributes } = await dynamo.send(
        new UpdateCommand({
          TableName: tables.projects,
          Key: { projectId },
          ConditionExpression: projectExists,
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          ...change,
        }),
      );
      return withoutKeys(Attributes as ProjectItem);
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      if (error.Item?.secretKeyHash === undefined) throw new ProjectNotFound(projectId);
      // The SDK has repeated a change whose response was lost.
      return withoutKeys(error.Item as unknown as ProjectItem);
    }
  }

  /** The end of a grace period; undefined without one. */
  function graceEnd(gracePeriodMs: number): string | undefined {
    if (gracePeriodMs === 0) return undefined;
    return new Date(clock().getTime() + gracePeriodMs).toISOString();
  }

  return {
    /**
     * Creates a project, its keys and its subscriber counter in one transaction. Only the hash of the secret key is
     * stored: no later call can return it.
     * @throws {CommandError} if the id is in use. Also by a project that is not fully removed: the new counter would
     *   not count its subscriptions.
     */
    async create({
      projectId,
      name,
      plan,
      deployedCap,
      userIds = 'open',
      vapid,
      random,
    }: NewProject) {
      const { publicKey, privateKey } = vapid ?? newVapidPair();
      const secretKey = newKey(secretKeyPrefix, random);
      const identityKey = newKey(identityKeyPrefix, random);
      const project: ProjectItem = {
        projectId,
        ref: newProjectRef(random),
        internalKey: random(32),
        name: name ?? projectId,
        secretKeyHash: hashKey(secretKey),
        members: {},
        userIds,
        vapidPublicKey: publicKey,
        vapidPair: 0,
        plan: plan ?? {},
        createdAt: clock().toISOString(),
      };
      const vapidKey: VapidKeyItem = { projectId, privateKey };
      const identity: IdentityKeyItem = { projectId, identityKey };
      const cap = plan?.subscriberCap === undefined ? deployedCap : plan.subscriberCap;
      const existing = await addProject(dynamo, tables, project, vapidKey, identity, cap);
      if (existing !== undefined) {
        throw new CommandError('project_exists', `Project "${projectId}" already exists.`);
      }
      return { project: withoutKeys(project), secretKey, identityKey };
    },

    find,
    get,
    ...vapidRotation(dynamo, tables, get, clock),
    ...projectMembers(dynamo, tables.projects, clock),

    /** All projects, unordered. */
    async *list(): AsyncGenerator<RegisteredProject> {
      const query = { TableName: tables.projects, ...publicFields };
      for await (const { Items = [] } of paginateScan({ client: dynamo }, query)) {
        yield* Items.filter((item) => !('removed' in item)) as RegisteredProject[];
      }
    },

    /**
     * Changes the given limits and keeps the others.
     * @throws {ProjectNotFound}
     */
    setPlan(projectId: string, changes: PlanChange): Promise<RegisteredProject> {
      const limits = Object.entries(changes).map(([limit, value]) => [
        limit,
        value === 'default' ? undefined : value,
      ]);
      return update(projectId, attributeChanges(Object.fromEntries(limits), { inMap: 'plan' }));
    },

    /**
     * Replaces the secret key. The previous key stays valid for the grace period, and for as long
     * as the functions cache the project. An older key becomes invalid.
     * @param gracePeriodMs 0 for no grace period.
     * @throws {ProjectNotFound}
     */
    async rotateKey(projectId: string, random: RandomSource, gracePeriodMs = 0) {
      const secretKey = newKey(secretKeyPrefix, random);
      const until = graceEnd(gracePeriodMs);
      const project = await update(projectId, {
        // A repetition would make the new key the previous one.
        ConditionExpression: `${projectExists} AND secretKeyHash <> :hash`,
        UpdateExpression:
          until === undefined
            ? 'SET secretKeyHash = :hash REMOVE previousKeyHash, previousKeyUntil'
            : 'SET previousKeyHash = secretKeyHash, previousKeyUntil = :until, secretKeyHash = :hash',
        ExpressionAttributeValues: { ':hash': hashKey(secretKey), ':until': until },
      });
      return { project, secretKey };
    },

    /** @throws {ProjectNotFound} */
    rename(projectId: string, name: string): Promise<RegisteredProject> {
      return update(projectId, attributeChanges({ name }));
    },

    /** Sets whether user ids need a signature. @throws {ProjectNotFound} */
    setUserIds(projectId: string, userIds: UserIdMode): Promise<RegisteredProject> {
      return update(projectId, attributeChanges({ userIds }));
    },

    /** The key that signs user ids. @throws {ProjectNotFound} */
    async identityKey(projectId: string): Promise<string> {
      const { Item } = await dynamo.send(
        new GetCommand({
          TableName: tables.identityKeys,
          Key: { projectId },
          ConsistentRead: true,
        }),
      );
      if (Item === undefined) throw new ProjectNotFound(projectId);
      return (Item as IdentityKeyItem).identityKey;
    },

    /**
     * Replaces the identity key. The previous key stays valid for the grace period, and for as long as the
     * functions cache the project. An older key becomes invalid.
     * @param gracePeriodMs 0 for no grace period.
     * @throws {ProjectNotFound}
     */
    async rotateIdentityKey(projectId: string, random: RandomSource, gracePeriodMs: number) {
      const identityKey = newKey(identityKeyPrefix, random);
      const until = graceEnd(gracePeriodMs);
      const Key = { projectId };
      // A transaction happens once, also if it is repeated after a lost response. So the previous key stays the
      // previous one.
      const TransactItems = [
        {
          Update: {
            ...{ TableName: tables.identityKeys, Key },
            ConditionExpression: 'attribute_exists(identityKey)',
            UpdateExpression:
              until === undefined
                ? 'SET identityKey = :key REMOVE previousIdentityKey'
                : 'SET previousIdentityKey = identityKey, identityKey = :key',
            ExpressionAttributeValues: { ':key': identityKey },
          },
        },
        {
          Update: {
            ...{ TableName: tables.projects, Key },
            ConditionExpression: projectExists,
            ...attributeChanges({ previousIdentityKeyUntil: until }),
          },
        },
      ];
      try {
        await dynamo.send(new TransactWriteCommand({ TransactItems }));
      } catch (error) {
        const isMissing = cancellationReasons(error).some(conditionFailed);
        throw isMissing ? new ProjectNotFound(projectId) : error;
      }
      return { project: await get(projectId), identityKey };
    },

    /** See {@link removeProject}. @throws {ProjectNotFound} */
    remove(projectId: string, options?: RemovalOptions): Promise<RemovedItems> {
      return removeProject(dynamo, tables, projectId, clock(), options);
    },

    /** The number of subscribers now, and of notifications sent in a UTC month, by default the current one. */
    async usage(projectId: string, month = utcMonth(clock())): Promise<ProjectUsage> {
      const project = await find(projectId);
      if (project === undefined) return { subscribers: 0, month, sends: 0 };
      return projectUsage(dynamo, tables.usage)(project.ref, month);
    },
  };
}

/**
 * Adds a project with its keys and an empty subscriber counter.
 * @param cap for which the counter is divided: see {@link newSubscriberParts}.
 * @returns the project that has the id already. Then nothing is changed.
 * @throws {CommandError} if an earlier project is not fully removed.
 */
export async function addProject(
  dynamo: DynamoDBDocumentClient,
  tables: RestoredTables,
  project: ProjectItem,
  vapidKey: VapidKeyItem,
  identityKey: IdentityKeyItem,
  cap?: number | null,
): Promise<ProjectItem | undefined> {
  const ConditionExpression = 'attribute_not_exists(projectId)';
  try {
    await dynamo.send(
      new TransactWriteCommand({
        TransactItems: [
          {
            Put: {
              TableName: tables.projects,
              Item: project,
              ConditionExpression,
              ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
            },
          },
          { Put: { TableName: tables.vapidKeys, Item: vapidKey, ConditionExpression } },
          { Put: { TableName: tables.identityKeys, Item: identityKey, ConditionExpression } },
          ...newSubscriberParts(project.ref, 0, cap).map((Item) => ({
            Put: { TableName: tables.usage, Item },
          })),
        ],
      }),
    );
    return undefined;
  } catch (error) {
    const [reason] = cancellationReasons(error);
    if (!conditionFailed(reason)) throw error;
    if (reason?.Item?.removed) throw removalIncomplete(project.projectId);
    return reason?.Item as unknown as ProjectItem;
  }
}

function newProjectRef(random: RandomSource): ProjectRef {
  return random(9).toString('base64url') as ProjectRef;
}

function withoutKeys(item: ProjectItem): RegisteredProject {
  const { internalKey, secretKeyHash, previousKeyHash, members, ...project } = item;
  return project;
}
