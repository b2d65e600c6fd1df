import {
  type DynamoDBDocumentClient,
  GetCommand,
  paginateScan,
  TransactWriteCommand,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import type { DeployedSettings } from '../contract/environment.ts';
import { limitOf, type Plan, type UserIdMode, type VapidKeys } from '../contract/project.ts';
import { attributeChanges } from '../lambdas/store/attribute-changes.ts';
import { utcMonth } from '../lambdas/store/calendar.ts';
import { monthCounter, newSubscriberParts, subscriberCounter } from '../lambdas/store/counters.ts';
import {
  cancellationReasons,
  conditionFailed,
  isConditionFailure,
} from '../lambdas/store/dynamo.ts';
import type { IdentityKeyItem, ProjectItem, VapidKeyItem } from '../lambdas/store/items.ts';
import { type ProjectUsage, projectUsage } from '../lambdas/store/usage.ts';
import { balanceParts } from './counter-balance.ts';
import { ProjectExists, ProjectNotFound, ProjectRemovalIncomplete } from './project-errors.ts';
import { countItems, type RemovedItems, removeProject } from './project-removal.ts';
import type { ProjectTables } from './project-tables.ts';
import type { RegisteredProject } from './registered-project.ts';
import { hashSecretKey, newIdentityKey, newSecretKey, type RandomSource } from './secret-key.ts';
import { newVapidPair } from './vapid-pair.ts';
import { vapidRotation } from './vapid-rotation.ts';

/** A project with a new secret key. Only the hash is stored: no later call can return the key. */
export interface NewKey {
  readonly project: RegisteredProject;
  readonly secretKey: string;
}

export interface CreatedProject extends NewKey {
  readonly identityKey: string;
}

/** A project with a new identity key. */
export interface NewIdentityKey {
  readonly project: RegisteredProject;
  readonly identityKey: string;
}

export interface NewProject {
  /** Matches `projectIdPattern`. */
  readonly projectId: string;
  /** @default the id */
  readonly name?: string;
  readonly plan?: Plan;
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
    'projectId, #name, vapidPublicKey, vapidPair, previousVapidPublicKey, #plan, createdAt, previousKeyUntil, ' +
    'userIds, previousIdentityKeyUntil',
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
  async function update(
    projectId: string,
    change: Partial<UpdateCommandInput>,
  ): Promise<RegisteredProject> {
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
      return withoutKeys(Attributes as ProjectItem);
    } catch (error) {
      throw isConditionFailure(error) ? new ProjectNotFound(projectId) : error;
    }
  }

  /** The end of a grace period; undefined without one. */
  function graceEnd(gracePeriodMs: number): string | undefined {
    if (gracePeriodMs === 0) return undefined;
    return new Date(clock().getTime() + gracePeriodMs).toISOString();
  }

  return {
    /**
     * Creates a project, its keys and its subscriber counter in one transaction.
     * @throws {ProjectExists}
     * @throws {ProjectRemovalIncomplete} if an earlier project's subscriptions may be left, which
     *   the new counter would not count.
     */
    async create({
      projectId,
      name,
      plan,
      userIds = 'open',
      vapid,
      random,
    }: NewProject): Promise<CreatedProject> {
      const { publicKey, privateKey } = vapid ?? newVapidPair();
      const secretKey = newSecretKey(random);
      const identityKey = newIdentityKey(random);
      const project: ProjectItem = {
        projectId,
        name: name ?? projectId,
        secretKeyHash: hashSecretKey(secretKey),
        userIds,
        vapidPublicKey: publicKey,
        vapidPair: 0,
        plan: plan ?? {},
        createdAt: clock().toISOString(),
      };
      const vapidKey: VapidKeyItem = { projectId, privateKey };
      const identity: IdentityKeyItem = { projectId, identityKey };
      const isNew = 'attribute_not_exists(projectId)';
      try {
        await dynamo.send(
          new TransactWriteCommand({
            TransactItems: [
              { Put: { TableName: tables.projects, Item: project, ConditionExpression: isNew } },
              { Put: { TableName: tables.vapidKeys, Item: vapidKey, ConditionExpression: isNew } },
              {
                Put: { TableName: tables.identityKeys, Item: identity, ConditionExpression: isNew },
              },
              ...newSubscriberParts(project).map((Item) => ({
                Put: { TableName: tables.usage, Item, ConditionExpression: isNew },
              })),
            ],
          }),
        );
      } catch (error) {
        const [projectReason, , , ...counterReasons] = cancellationReasons(error);
        if (conditionFailed(projectReason)) throw new ProjectExists(projectId);
        throw counterReasons.some(conditionFailed)
          ? new ProjectRemovalIncomplete(projectId)
          : error;
      }
      return { project: withoutKeys(project), secretKey, identityKey };
    },

    find,
    ...vapidRotation(dynamo, tables, find),

    /** All projects, unordered. */
    async *list(): AsyncGenerator<RegisteredProject> {
      const query = { TableName: tables.projects, ...publicFields };
      for await (const { Items = [] } of paginateScan({ client: dynamo }, query)) {
        yield* Items as RegisteredProject[];
      }
    },

    /**
     * Changes the given limits and keeps the others, then balances the counters: see {@link balanceParts}.
     * @param deployed limits where the plan sets none.
     * @throws {ProjectNotFound}
     */
    async setPlan(
      projectId: string,
      changes: PlanChange,
      deployed: Pick<DeployedSettings, 'SUBSCRIBER_CAP' | 'MONTHLY_SEND_CAP'>,
    ): Promise<RegisteredProject> {
      const limits = Object.entries(changes).map(([limit, value]) => [
        limit,
        value === 'default' ? undefined : value,
      ]);
      const change = attributeChanges(Object.fromEntries(limits), { inMap: 'plan' });
      const project = await update(projectId, change);
      const { subscriberCap, monthlySendCap } = project.plan;
      await balanceParts(
        dynamo,
        tables.projects,
        subscriberCounter(tables.usage, projectId),
        limitOf(subscriberCap, deployed.SUBSCRIBER_CAP),
      );
      await balanceParts(
        dynamo,
        tables.projects,
        monthCounter(tables.usage, project, clock()),
        limitOf(monthlySendCap, deployed.MONTHLY_SEND_CAP),
      );
      return project;
    },

    /**
     * Replaces the secret key. The previous key stays valid for the grace period, and for as long
     * as the functions cache the project. An older key becomes invalid.
     * @param gracePeriodMs 0 for no grace period.
     * @throws {ProjectNotFound}
     */
    async rotateKey(projectId: string, random: RandomSource, gracePeriodMs = 0): Promise<NewKey> {
      const secretKey = newSecretKey(random);
      const until = graceEnd(gracePeriodMs);
      const project = await update(projectId, {
        UpdateExpression:
          until === undefined
            ? 'SET secretKeyHash = :hash REMOVE previousKeyHash, previousKeyUntil'
            : 'SET previousKeyHash = secretKeyHash, previousKeyUntil = :until, secretKeyHash = :hash',
        ExpressionAttributeValues: { ':hash': hashSecretKey(secretKey), ':until': until },
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
    async rotateIdentityKey(
      projectId: string,
      random: RandomSource,
      gracePeriodMs: number,
    ): Promise<NewIdentityKey> {
      const identityKey = newIdentityKey(random);
      const until = graceEnd(gracePeriodMs);
      const own = { Key: { projectId }, ConditionExpression: 'attribute_exists(projectId)' };
      // A transaction happens once, also if it is repeated after a lost response: the previous key stays the previous one.
      const TransactItems = [
        {
          Update: {
            ...own,
            TableName: tables.identityKeys,
            UpdateExpression:
              until === undefined
                ? 'SET identityKey = :key REMOVE previousIdentityKey'
                : 'SET previousIdentityKey = identityKey, identityKey = :key',
            ExpressionAttributeValues: { ':key': identityKey },
          },
        },
        {
          Update: {
            ...own,
            TableName: tables.projects,
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
      const project = await find(projectId);
      if (project === undefined) throw new ProjectNotFound(projectId);
      return { project, identityKey };
    },

    /** See {@link removeProject}. @throws {ProjectNotFound} */
    remove(
      projectId: string,
      random: RandomSource,
      onProgress?: (soFar: RemovedItems) => void,
    ): Promise<RemovedItems> {
      return removeProject(dynamo, tables, projectId, clock(), random, onProgress);
    },

    /** What {@link remove} would delete. @throws {ProjectNotFound} */
    countItems(
      projectId: string,
      onProgress?: (soFar: RemovedItems) => void,
    ): Promise<RemovedItems> {
      return countItems(dynamo, tables, projectId, onProgress);
    },

    /** The number of subscribers now, and of notifications sent in a UTC month, by default the current one. */
    usage(projectId: string, month = utcMonth(clock())): Promise<ProjectUsage> {
      return projectUsage(dynamo, tables.usage)(projectId, month);
    },
  };
}

function withoutKeys(item: ProjectItem): RegisteredProject {
  const { secretKeyHash, previousKeyHash, ...project } = item;
  return project;
}
