import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Plan, VapidKeys } from '../contract/project.ts';
import {
  cancellationReasons,
  conditionFailed,
  isConditionFailure,
} from '../lambdas/store/dynamo.ts';
import {
  type ClosedCounterItem,
  type ProjectItem,
  subscribersPeriod,
  type UsageItem,
  type VapidKeyItem,
} from '../lambdas/store/items.ts';
import { utcMonth } from '../lambdas/store/notifications.ts';
import { hashSecretKey, newSecretKey, type RandomSource } from './secret-key.ts';
import { newVapidPair } from './vapid-pair.ts';

/** A project as its operator may see it: without the hashes of its keys. */
export type RegisteredProject = Omit<ProjectItem, 'apiKeyHash' | 'previousKeyHash'>;

/** The project, and its secret key this once: no later call can tell it. */
export interface NewKey {
  readonly project: RegisteredProject;
  readonly secretKey: string;
}

export interface NewProject {
  /** Of the form `projectIdPattern`. */
  readonly projectId: string;
  /** The id, where absent. */
  readonly name?: string;
  readonly plan?: Plan;
  /** A pair made elsewhere; a new one where absent. */
  readonly vapid?: VapidKeys;
  readonly random: RandomSource;
}

/** Limits to change: a number, null for none, or `default` for what the deployment says. */
export type PlanChange = { readonly [Limit in keyof Plan]?: number | null | 'default' };

export interface ProjectUsage {
  readonly subscribers: number;
  /** The UTC month counted, such as `2026-11`. */
  readonly month: string;
  readonly sends: number;
}

/** Items that a removal has taken out, by table; the project's own is not among them. */
export type Removal = Readonly<Record<BelongingKind, number>>;
type BelongingKind = 'subscriptions' | 'notifications' | 'usage';

export class ProjectExists extends Error {
  override readonly name = 'ProjectExists';
  readonly code = 'project_exists';
  constructor(projectId: string) {
    super(`There is a project "${projectId}" already.`);
  }
}

export class ProjectNotFound extends Error {
  override readonly name = 'ProjectNotFound';
  readonly code = 'project_not_found';
  constructor(projectId: string) {
    super(`There is no project "${projectId}".`);
  }
}

/** The removal of an earlier project of this id is under way or broke off. */
export class ProjectHalfRemoved extends Error {
  override readonly name = 'ProjectHalfRemoved';
  readonly code = 'project_half_removed';
  constructor(projectId: string) {
    super(`An earlier project "${projectId}" is not removed entirely yet; delete it again.`);
  }
}

/** Names of the tables that a project's items lie in. */
export interface ProjectTables {
  readonly projects: string;
  readonly vapidKeys: string;
  readonly subscriptions: string;
  readonly usage: string;
  readonly notifications: string;
}

export type ProjectRegistry = ReturnType<typeof projectRegistry>;

/** Items deleted at once: a transaction takes 100, of which one checks the removal. */
const removalPage = 99;

const publicFields = {
  ProjectionExpression: 'projectId, #name, vapidPublicKey, #plan, createdAt, previousKeyUntil',
  ExpressionAttributeNames: { '#name': 'name', '#plan': 'plan' },
};

/** The operator's side of the tables: what makes, changes and removes projects. */
export function projectRegistry(
  dynamo: DynamoDBDocumentClient,
  tables: ProjectTables,
  clock: () => Date,
) {
  /** Where a project's items lie besides its own, in the order they are removed in. */
  const belongings: readonly Belonging[] = [
    { kind: 'subscriptions', table: tables.subscriptions, sortKey: 'endpointHash' },
    { kind: 'notifications', table: tables.notifications, sortKey: 'notificationId' },
    { kind: 'usage', table: tables.usage, sortKey: 'period' },
  ];

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
  async function update(projectId: string, change: Change): Promise<RegisteredProject> {
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
      return publicPart(Attributes as ProjectItem);
    } catch (error) {
      throw isConditionFailure(error) ? new ProjectNotFound(projectId) : error;
    }
  }

  const counterKey = (projectId: string) => ({ projectId, period: subscribersPeriod });

  /**
   * Deletes the project and its key, and closes its counter, unless that has been done already.
   * @throws {ProjectNotFound}
   */
  async function close(projectId: string, removal: string): Promise<void> {
    try {
      await dynamo.send(
        new TransactWriteCommand({
          TransactItems: [
            { Delete: { TableName: tables.projects, Key: { projectId } } },
            { Delete: { TableName: tables.vapidKeys, Key: { projectId } } },
            {
              Update: {
                TableName: tables.usage,
                Key: counterKey(projectId),
                UpdateExpression: 'SET removal = if_not_exists(removal, :removal) REMOVE tally',
                ConditionExpression: 'attribute_exists(projectId)',
                ExpressionAttributeValues: { ':removal': removal },
              },
            },
          ],
        }),
      );
    } catch (error) {
      const absent = cancellationReasons(error).some(conditionFailed);
      throw absent ? new ProjectNotFound(projectId) : error;
    }
  }

  /** The removal that is under way for a project id. */
  async function removalOf(projectId: string): Promise<string | undefined> {
    const { Item } = await dynamo.send(
      new GetCommand({ TableName: tables.usage, Key: counterKey(projectId), ConsistentRead: true }),
    );
    return (Item as Partial<ClosedCounterItem> | undefined)?.removal;
  }

  /** The keys of a project's items in one table, page by page, but for its counter's. */
  async function* keysIn(belonging: Belonging, projectId: string): AsyncGenerator<readonly Key[]> {
    let from: Record<string, unknown> | undefined;
    do {
      const page = await dynamo.send(
        new QueryCommand({
          ...query(belonging, projectId),
          ...(from && { ExclusiveStartKey: from }),
        }),
      );
      const keys = (page.Items ?? []) as Key[];
      yield keys.filter(({ period }) => period !== subscribersPeriod);
      from = page.LastEvaluatedKey;
    } while (from);
  }

  /** Deletes items while their removal is under way, and none once it has ended elsewhere. */
  async function deleteDuring(
    removal: string,
    table: string,
    keys: readonly Key[],
  ): Promise<boolean> {
    if (keys.length === 0) return true;
    const check = {
      TableName: tables.usage,
      Key: counterKey(keys[0]!.projectId),
      ...isUnderWay(removal),
    };
    try {
      await dynamo.send(
        new TransactWriteCommand({
          TransactItems: [
            { ConditionCheck: check },
            ...keys.map((Key) => ({ Delete: { TableName: table, Key } })),
          ],
        }),
      );
      return true;
    } catch (error) {
      if (conditionFailed(cancellationReasons(error)[0])) return false;
      throw error;
    }
  }

  /** Deletes the closed counter, unless another call for the same removal has done so. */
  async function endRemoval(projectId: string, removal: string): Promise<void> {
    try {
      await dynamo.send(
        new DeleteCommand({
          TableName: tables.usage,
          Key: counterKey(projectId),
          ...isUnderWay(removal),
        }),
      );
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
    }
  }

  return {
    /**
     * Makes a project, its VAPID key and its counter of subscribers in one transaction.
     * @throws {ProjectExists}
     * @throws {ProjectHalfRemoved} because a counter that starts at 0 must find no subscription.
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
      const counter: UsageItem = { projectId, period: subscribersPeriod, tally: 0 };
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
        const [taken, , counted] = cancellationReasons(error);
        if (conditionFailed(taken)) throw new ProjectExists(projectId);
        throw conditionFailed(counted) ? new ProjectHalfRemoved(projectId) : error;
      }
      return { project: publicPart(project), secretKey };
    },

    find,

    /** Every project, in no order. */
    async *list(): AsyncGenerator<RegisteredProject> {
      let from: Record<string, unknown> | undefined;
      do {
        const page = await dynamo.send(
          new ScanCommand({
            TableName: tables.projects,
            ...publicFields,
            ...(from && { ExclusiveStartKey: from }),
          }),
        );
        yield* (page.Items ?? []) as RegisteredProject[];
        from = page.LastEvaluatedKey;
      } while (from);
    },

    /**
     * Changes the named limits and leaves the others as they are.
     * @throws {ProjectNotFound}
     */
    setPlan(projectId: string, changes: PlanChange): Promise<RegisteredProject> {
      return update(projectId, planUpdate(changes));
    },

    /**
     * Replaces the secret key. The old one ends once its grace is over and the functions' caches
     * of the project are; one that was in its own grace ends at once.
     * @param grace milliseconds for which the old key is as good as the new one.
     * @throws {ProjectNotFound}
     */
    async rotateKey(projectId: string, random: RandomSource, grace = 0): Promise<NewKey> {
      const secretKey = newSecretKey(random);
      const hash = { ':hash': hashSecretKey(secretKey) };
      const until = new Date(clock().getTime() + grace).toISOString();
      const project = await update(
        projectId,
        grace === 0
          ? {
              UpdateExpression: 'SET apiKeyHash = :hash REMOVE previousKeyHash, previousKeyUntil',
              ExpressionAttributeValues: hash,
            }
          : {
              UpdateExpression:
                'SET previousKeyHash = apiKeyHash, previousKeyUntil = :until, apiKeyHash = :hash',
              ExpressionAttributeValues: { ...hash, ':until': until },
            },
      );
      return { project, secretKey };
    },

    /**
     * Removes a project with all that belongs to it. First, in one transaction, the project and its
     * key are deleted and its counter is closed, after which no subscription can be added; then the
     * rest is deleted, page by page, and the closed counter last. While it is there, no project of
     * this id can be made, and a call for it goes on with the same removal.
     * @throws {ProjectNotFound}
     */
    async remove(
      projectId: string,
      random: RandomSource,
      onProgress: (soFar: Removal) => void = () => {},
    ): Promise<Removal> {
      await close(projectId, random(16).toString('hex'));
      const removed = { subscriptions: 0, notifications: 0, usage: 0 };
      const removal = await removalOf(projectId);
      if (removal === undefined) return removed;

      for (const belonging of belongings) {
        for await (const keys of keysIn(belonging, projectId)) {
          if (!(await deleteDuring(removal, belonging.table, keys))) return removed;
          removed[belonging.kind] += keys.length;
          onProgress({ ...removed });
        }
      }
      await endRemoval(projectId, removal);
      return removed;
    },

    /** Subscribers now and notifications of this UTC month. */
    async usage(projectId: string): Promise<ProjectUsage> {
      const tallyOf = async (period: string): Promise<number> => {
        const { Item } = await dynamo.send(
          new GetCommand({ TableName: tables.usage, Key: { projectId, period } }),
        );
        return (Item as UsageItem | undefined)?.tally ?? 0;
      };
      const month = utcMonth(clock());
      const [subscribers, sends] = await Promise.all([tallyOf(subscribersPeriod), tallyOf(month)]);
      return { subscribers, month, sends };
    },
  };
}

interface Key {
  readonly projectId: string;
  readonly [sortKey: string]: string;
}

interface Belonging {
  readonly kind: BelongingKind;
  readonly table: string;
  readonly sortKey: string;
}

interface Change {
  readonly UpdateExpression: string;
  readonly ExpressionAttributeNames?: Record<string, string>;
  readonly ExpressionAttributeValues?: Record<string, unknown>;
}

function publicPart(item: ProjectItem): RegisteredProject {
  const { apiKeyHash, previousKeyHash, ...project } = item;
  return project;
}

/** The condition on a counter that it is closed by this very removal. */
function isUnderWay(removal: string) {
  return {
    ConditionExpression: 'removal = :removal',
    ExpressionAttributeValues: { ':removal': removal },
  };
}

/** Reads the keys of a project's items in one table. */
function query({ table, sortKey }: Belonging, projectId: string) {
  return {
    TableName: table,
    KeyConditionExpression: 'projectId = :projectId',
    ExpressionAttributeValues: { ':projectId': projectId },
    ProjectionExpression: 'projectId, #sortKey',
    ExpressionAttributeNames: { '#sortKey': sortKey },
    ConsistentRead: true,
    Limit: removalPage,
  };
}

function planUpdate(changes: PlanChange): Change {
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
