import {
  type DynamoDBDocumentClient,
  GetCommand,
  paginateScan,
  TransactWriteCommand,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import type { RestoredTables } from '../../contract/infrastructure/tables.ts';
import { ServiceError } from '../../contract/wire/errors.ts';
import type { VapidKeys } from '../../contract/wire/project.ts';
import { newParts } from '../../lambdas/store/counters.ts';
import {
  attributeChanges,
  cancellationReasons,
  conditionFailed,
  isConditionFailure,
  type Projection,
  projection,
} from '../../lambdas/store/dynamo.ts';
import type {
  IdentityKeyItem,
  MemberItem,
  ProjectItem,
  RemovedProjectItem,
  VapidKeyItem,
} from '../../lambdas/store/items.ts';
import { gracePeriod, keysMissing } from '../errors.ts';

/** A project, without its secrets. */
export type RegisteredProject = Omit<
  ProjectItem,
  'internalKey' | 'secretKeyHash' | 'previousKeyHash' | 'members'
>;

type Tables = Pick<RestoredTables, 'projects' | 'vapidKeys' | 'identityKeys' | 'usage'>;

type Change = Partial<UpdateCommandInput> & { readonly UpdateExpression: string };

/** Also of an item that is left of a removed project. */
const registered = projection<
  RegisteredProject & Partial<Pick<RemovedProjectItem, 'removed' | 'arrives'>>
>({
  ...{ projectId: true, ref: true, settings: true, createdAt: true, pausedAt: true },
  ...{ vapidPair: true, vapidPublicKey: true, previousVapidPublicKey: true, vapidRotatedAt: true },
  ...{ previousKeyUntil: true, previousIdentityKeyUntil: true },
  ...{ removed: true, arrives: true },
});

const projectExists = 'attribute_exists(secretKeyHash)';

/**
 * The projects with their keys and members, as the operator manages them. Functions only read projects, with
 * `projects.ts`, and follow a change within {@link projectCacheMs}.
 */
export class RegisteredProjects {
  readonly #dynamo: DynamoDBDocumentClient;
  readonly #tables: Tables;

  constructor(dynamo: DynamoDBDocumentClient, tables: Tables) {
    this.#dynamo = dynamo;
    this.#tables = tables;
  }

  /**
   * Adds a project with its keys and an empty subscriber counter, in one transaction.
   * @param cap for which the counter is divided: see {@link newParts}.
   * @returns the project that has the id already, or `half_removed` if an earlier one is not fully removed: the new
   *   counter would not count its subscriptions. Then nothing is changed.
   */
  async addProject(
    project: ProjectItem,
    vapidKey: VapidKeyItem,
    identityKey: IdentityKeyItem,
    cap?: number | null,
  ): Promise<'added' | 'half_removed' | RegisteredProject> {
    const tables = this.#tables;
    const ConditionExpression = 'attribute_not_exists(projectId)';
    const Put = {
      TableName: tables.projects,
      Item: project,
      ConditionExpression,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    };
    const parts = newParts({ project: project.ref }, 0, cap);
    const TransactItems = [
      { Put },
      { Put: { TableName: tables.vapidKeys, Item: vapidKey, ConditionExpression } },
      { Put: { TableName: tables.identityKeys, Item: identityKey, ConditionExpression } },
      ...parts.map((Item) => ({ Put: { TableName: tables.usage, Item } })),
    ];
    try {
      await this.#dynamo.send(new TransactWriteCommand({ TransactItems }));
      return 'added';
    } catch (error) {
      const [reason] = cancellationReasons(error);
      if (!conditionFailed(reason)) throw error;
      return reason?.Item?.removed
        ? 'half_removed'
        : withoutKeys(reason?.Item as unknown as ProjectItem);
    }
  }

  async findProject(projectId: string): Promise<RegisteredProject | undefined> {
    const found = await this.findProjectOrMark(projectId);
    return found === undefined || 'removed' in found ? undefined : found;
  }

  /** Finds a project, or the mark of one that is being removed or brought. */
  findProjectOrMark(
    projectId: string,
  ): Promise<RegisteredProject | RemovedProjectItem | undefined> {
    return this.#read('projects', projectId, registered);
  }

  /** All projects, unordered. */
  async *allProjects(): AsyncGenerator<RegisteredProject> {
    const query = { TableName: this.#tables.projects, ...registered };
    for await (const { Items = [] } of paginateScan({ client: this.#dynamo }, query)) {
      yield* Items.filter((item) => !('removed' in item)) as RegisteredProject[];
    }
  }

  /**
   * Sets attributes, and removes undefined ones.
   * @returns the project, undefined if it does not exist.
   */
  changeProject(
    projectId: string,
    attributes: Partial<ProjectItem>,
  ): Promise<RegisteredProject | undefined> {
    return this.#update(projectId, attributeChanges(attributes));
  }

  /** Sets settings, and removes undefined ones. @returns the project, undefined if it does not exist. */
  changeSettings(projectId: string, settings: object): Promise<RegisteredProject | undefined> {
    return this.#update(projectId, attributeChanges({ ...settings }, { inMap: 'settings' }));
  }

  /**
   * Stores the hash of a new secret key. The one before it becomes the previous one.
   * @param until ISO 8601, when the previous key ends. Undefined: at once.
   * @param now at which an earlier previous key must have ended. Undefined: it ends.
   * @returns the project, undefined if it does not exist.
   * @throws {CommandError} `grace_period`.
   */
  replaceSecretKey(
    projectId: string,
    hash: string,
    until: string | undefined,
    now: Date | undefined,
  ): Promise<RegisteredProject | undefined> {
    const isOver = '(attribute_not_exists(previousKeyUntil) OR previousKeyUntil <= :now)';
    const change = {
      // A repetition would make the new key the previous one.
      ConditionExpression: `${projectExists} AND secretKeyHash <> :hash${now ? ` AND ${isOver}` : ''}`,
      UpdateExpression:
        until === undefined
          ? 'SET secretKeyHash = :hash REMOVE previousKeyHash, previousKeyUntil'
          : 'SET previousKeyHash = secretKeyHash, previousKeyUntil = :until, secretKeyHash = :hash',
      ExpressionAttributeValues: { ':hash': hash, ':until': until, ':now': now?.toISOString() },
    };
    return this.#update(projectId, change, ({ secretKeyHash, previousKeyUntil }) => {
      if (secretKeyHash !== hash) throw gracePeriod(projectId, previousKeyUntil!);
    });
  }

  async findIdentityKey(projectId: string): Promise<string | undefined> {
    return (await this.#read<IdentityKeyItem>('identityKeys', projectId))?.identityKey;
  }

  /**
   * Stores a new identity key. The one before it becomes the previous one until a time: see {@link replaceSecretKey}.
   * @returns whether there is such a project.
   */
  async replaceIdentityKey(
    projectId: string,
    identityKey: string,
    until: string | undefined,
  ): Promise<boolean> {
    const ofKeys = {
      ConditionExpression: 'attribute_exists(identityKey)',
      UpdateExpression:
        until === undefined
          ? 'SET identityKey = :key REMOVE previousIdentityKey'
          : 'SET previousIdentityKey = identityKey, identityKey = :key',
      ExpressionAttributeValues: { ':key': identityKey },
    };
    const ofProject = {
      ConditionExpression: projectExists,
      ...attributeChanges({ previousIdentityKeyUntil: until }),
    };
    try {
      // A transaction happens once, also if it is repeated after a lost response. So the previous key stays the
      // previous one.
      await this.#updateBoth(projectId, ofProject, 'identityKeys', ofKeys);
      return true;
    } catch (error) {
      if (cancellationReasons(error).some(conditionFailed)) return false;
      throw error;
    }
  }

  /**
   * Makes a VAPID pair current. The one before it becomes the previous one, with which existing subscriptions still
   * receive their pushes. Does nothing if the project already has a previous one.
   */
  async rotatePair(
    projectId: string,
    { publicKey, privateKey }: VapidKeys,
    now: Date,
  ): Promise<'rotated' | 'previous_exists' | 'project_gone'> {
    const ofProject = {
      UpdateExpression:
        'SET previousVapidPublicKey = vapidPublicKey, vapidPublicKey = :key, vapidPair = vapidPair + :one, vapidRotatedAt = :now',
      ConditionExpression:
        'attribute_exists(vapidPublicKey) AND attribute_not_exists(previousVapidPublicKey)',
      ExpressionAttributeValues: { ':key': publicKey, ':one': 1, ':now': now.toISOString() },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    };
    const ofKeys = {
      UpdateExpression: 'SET previousPrivateKey = privateKey, privateKey = :key',
      ConditionExpression: 'attribute_exists(privateKey)',
      ExpressionAttributeValues: { ':key': privateKey },
    };
    try {
      await this.#updateBoth(projectId, ofProject, 'vapidKeys', ofKeys);
      return 'rotated';
    } catch (error) {
      const [reason] = cancellationReasons(error);
      if (!conditionFailed(reason)) throw error;
      return reason?.Item?.vapidPublicKey === undefined ? 'project_gone' : 'previous_exists';
    }
  }

  /**
   * Adds a pair beside the current one, as its previous pair.
   * @returns whether it was added: there is such a project, without a previous pair.
   */
  async addPreviousPair(
    projectId: string,
    { publicKey, privateKey }: VapidKeys,
    now: Date,
  ): Promise<boolean> {
    const ofProject = {
      UpdateExpression: 'SET previousVapidPublicKey = :key, vapidRotatedAt = :now',
      ConditionExpression:
        'attribute_exists(vapidPublicKey) AND attribute_not_exists(previousVapidPublicKey)',
      ExpressionAttributeValues: { ':key': publicKey, ':now': now.toISOString() },
    };
    const ofKeys = {
      UpdateExpression: 'SET previousPrivateKey = :key',
      ConditionExpression: 'attribute_exists(privateKey)',
      ExpressionAttributeValues: { ':key': privateKey },
    };
    try {
      await this.#updateBoth(projectId, ofProject, 'vapidKeys', ofKeys);
      return true;
    } catch (error) {
      if (cancellationReasons(error).some(conditionFailed)) return false;
      throw error;
    }
  }

  /** Forgets the previous pair, unless the project has another one or none. @param publicKey of the pair. */
  async dropPreviousPair(projectId: string, publicKey: string, now: Date): Promise<void> {
    const ofProject = {
      UpdateExpression: 'SET vapidRotatedAt = :now REMOVE previousVapidPublicKey',
      ConditionExpression: 'previousVapidPublicKey = :key',
      ExpressionAttributeValues: { ':key': publicKey, ':now': now.toISOString() },
    };
    const ofKeys = { UpdateExpression: 'REMOVE previousPrivateKey' };
    try {
      await this.#updateBoth(projectId, ofProject, 'vapidKeys', ofKeys);
    } catch (error) {
      if (!conditionFailed(cancellationReasons(error)[0])) throw error;
    }
  }

  /** @returns undefined if there is no such project. */
  async findMembers(projectId: string): Promise<ProjectItem['members'] | undefined> {
    return (await this.#read<Partial<ProjectItem>>('projects', projectId))?.members;
  }

  /** Adds a member, unless the name is in use, or the project has the most members possible. */
  async addMember(
    projectId: string,
    name: string,
    member: MemberItem,
    most: number,
  ): Promise<'added' | 'exists' | 'too_many' | 'project_gone'> {
    try {
      await this.#dynamo.send(
        new UpdateCommand({
          TableName: this.#tables.projects,
          Key: { projectId },
          ConditionExpression: `${projectExists} AND attribute_not_exists(#members.#name) AND size(#members) < :most`,
          UpdateExpression: 'SET #members.#name = :member',
          ExpressionAttributeNames: { '#members': 'members', '#name': name },
          ExpressionAttributeValues: { ':member': member, ':most': most },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return 'added';
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      const members = error.Item?.members as ProjectItem['members'] | undefined;
      if (members === undefined) return 'project_gone';
      const found = Object.hasOwn(members, name) ? members[name] : undefined;
      if (found === undefined) return 'too_many';
      // The SDK has repeated an invitation whose response was lost.
      return found.keyHash === member.keyHash ? 'added' : 'exists';
    }
  }

  /** Does nothing if there is no such member. */
  async removeMember(projectId: string, name: string): Promise<void> {
    await this.#dynamo.send(
      new UpdateCommand({
        TableName: this.#tables.projects,
        Key: { projectId },
        ConditionExpression: 'attribute_exists(#members)',
        UpdateExpression: 'REMOVE #members.#name',
        ExpressionAttributeNames: { '#members': 'members', '#name': name },
      }),
    );
  }

  async #read<Item>(
    table: keyof Tables,
    projectId: string,
    selection?: Projection<Item>,
  ): Promise<Item | undefined> {
    const TableName = this.#tables[table];
    const { Item } = await this.#dynamo.send(
      new GetCommand({ TableName, Key: { projectId }, ConsistentRead: true, ...selection }),
    );
    return Item as Item | undefined;
  }

  /**
   * @param expectDone throws if the change was refused, and not repeated.
   * @returns undefined if there is no such project.
   */
  async #update(
    projectId: string,
    change: Partial<UpdateCommandInput>,
    expectDone: (item: ProjectItem) => void = () => {},
  ): Promise<RegisteredProject | undefined> {
    try {
      const { Attributes } = await this.#dynamo.send(
        new UpdateCommand({
          TableName: this.#tables.projects,
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
      if (error.Item?.secretKeyHash === undefined) return undefined;
      const item = error.Item as unknown as ProjectItem;
      expectDone(item);
      // The SDK has repeated a change whose response was lost.
      return withoutKeys(item);
    }
  }

  /**
   * Changes a project and its keys in one transaction.
   * @throws {CommandError} `keys_missing`, if the project is as the change requires and its keys are not.
   */
  async #updateBoth(
    projectId: string,
    ofProject: Change,
    table: 'vapidKeys' | 'identityKeys',
    ofKeys: Change,
  ): Promise<void> {
    const Key = { projectId };
    const TransactItems = [
      { Update: { TableName: this.#tables.projects, Key, ...ofProject } },
      { Update: { TableName: this.#tables[table], Key, ...ofKeys } },
    ];
    try {
      await this.#dynamo.send(new TransactWriteCommand({ TransactItems }));
    } catch (error) {
      const [project, keys] = cancellationReasons(error);
      const areMissing = !conditionFailed(project) && conditionFailed(keys);
      throw areMissing ? keysMissing([projectId]) : error;
    }
  }
}

export function withoutKeys(item: ProjectItem): RegisteredProject {
  const { internalKey, secretKeyHash, previousKeyHash, members, ...project } = item;
  return project;
}

/** The project does not exist, or was deleted. */
export function projectNotFound(projectId: string): ServiceError {
  return new ServiceError('project_not_found', `Project "${projectId}" does not exist.`);
}

/** The fields of a project with its application server keys. */
type ProjectKeys = Pick<
  RegisteredProject,
  'vapidPair' | 'vapidPublicKey' | 'previousVapidPublicKey'
>;

/** A project's application server keys by the numbers of their pairs. A key that was dropped is not among them. */
export function applicationServerKeys({
  vapidPair,
  vapidPublicKey,
  previousVapidPublicKey,
}: ProjectKeys): ReadonlyMap<number, string> {
  const keys = new Map([[vapidPair, vapidPublicKey]]);
  if (previousVapidPublicKey !== undefined) keys.set(vapidPair - 1, previousVapidPublicKey);
  return keys;
}
