import {
  type DynamoDBDocumentClient,
  PutCommand,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import type { RestoredTables } from '../../contract/infrastructure/tables.ts';
import { monthCounter, monthsAround, newParts } from '../../lambdas/store/counters.ts';
import {
  cancellationReasons,
  conditionFailed,
  isConditionFailure,
} from '../../lambdas/store/dynamo.ts';
import type {
  ErasureItem,
  IdentityKeyItem,
  ProjectItem,
  RemovedProjectItem,
  SubscriptionItem,
  VapidKeyItem,
} from '../../lambdas/store/items.ts';
import { type ProjectStore, projectOf } from '../../lambdas/store/projects.ts';
import { isVapidPair } from '../vapid-pair.ts';
import { closeCounter, openCounter } from './closed-counters.ts';
import {
  applicationServerKeys,
  projectNotFound,
  type RegisteredProject,
} from './registered-projects.ts';
import {
  batchImport,
  type ImportCounts,
  type ImportedSubscription,
  importSubscriptions,
} from './subscription-import.ts';

/** A project that comes from a backup or from the file of an export: all that it owns but results. */
export interface ArrivingProject {
  readonly project: ProjectItem;
  readonly vapidKey: VapidKeyItem;
  readonly identityKey: IdentityKeyItem;
  /** The notifications of each UTC month. */
  readonly months: ReadonlyMap<string, number>;
  readonly erasures: () => AsyncIterable<readonly ErasureItem[]>;
  readonly subscriptions: () => AsyncIterable<readonly SubscriptionItem[]>;
}

/** Two restored tables may show different moments of one transaction, such as that of a rotation. */
export function haveSameKeys(
  {
    vapidPublicKey,
    previousVapidPublicKey,
  }: Pick<ProjectItem, 'vapidPublicKey' | 'previousVapidPublicKey'>,
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

interface ArrivalOptions {
  readonly clock: () => Date;
  readonly sleep: (ms: number) => Promise<unknown>;
  /** Is called with the number of subscriptions that were read so far. */
  readonly onProgress?: (subscriptions: number) => void;
}

/** What has arrived. */
export interface Arrival extends ImportCounts {
  /** Subscriptions that were left out: the project has dropped their application server key. */
  readonly keyDropped: number;
}

/** The project as an import finds it, although it is not stored yet. */
export function unstored(project: ProjectItem): Pick<ProjectStore, 'find' | 'refresh'> {
  const find = async () => projectOf(project);
  return { find, refresh: find };
}

/** Those who arrive with a project are counted whatever its cap: all have been accepted before. */
export function withoutCap(project: ProjectItem): ProjectItem {
  return { ...project, settings: { ...project.settings, subscriberCap: null } };
}

/**
 * Brings a project to a stack that has none with its id:
 *
 * 1. A mark takes the id. Functions find no project, and no other one with this id can be created.
 * 2. Counters, hashes of erased endpoints and subscriptions are added. Subscriptions are counted while they are, whatever the cap: all have been
 *    accepted before.
 * 3. One transaction replaces the mark by the project with its keys.
 *
 * Interrupted anywhere, the same call again continues it, and the command `delete` removes what has arrived.
 * @returns `taken`: there is a project with this id, or what is left of another one. Then nothing is changed.
 */
export async function bringProject(
  dynamo: DynamoDBDocumentClient,
  tables: RestoredTables,
  { project, vapidKey, identityKey, months, erasures, subscriptions }: ArrivingProject,
  { clock, sleep, onProgress = () => {} }: ArrivalOptions,
): Promise<Arrival | 'taken'> {
  const { projectId, ref, pausedAt } = project;
  const arrives = {
    ConditionExpression: '#ref = :ref AND arrives = :true',
    ExpressionAttributeNames: { '#ref': 'ref' },
    ExpressionAttributeValues: { ':ref': ref, ':true': true },
  };
  if (!(await takeId())) return 'taken';
  await putMissing(tables.usage, newParts({ project: ref }));
  // A paused one stays paused.
  const around = monthsAround(clock());
  const closed = pausedAt === undefined ? [] : around;
  for (const month of new Set([...months.keys(), ...closed])) {
    const counter = monthCounter(tables.usage, ref, new Date(month));
    const parts = newParts(counter, months.get(month));
    const isClosed = closed.includes(month);
    await putMissing(
      tables.usage,
      isClosed ? parts.map((part) => ({ ...part, cap: 'closed' })) : parts,
    );
  }
  for await (const page of erasures()) {
    await putMissing(tables.subscriptions, page, 'endpointHash');
  }
  const importBatch = batchImport(dynamo, tables, unstored(withoutCap(project)), 0);
  const usable = new UsableSubscriptions(project, subscriptions, onProgress);
  const counts = await importSubscriptions(usable.items(), { projectId, importBatch, sleep });
  // An interrupted call may have brought it with other keys, and so paused or not.
  for (const month of around) {
    const counter = monthCounter(tables.usage, ref, new Date(month));
    await (pausedAt === undefined
      ? openCounter(dynamo, counter)
      : closeCounter(dynamo, tables, project, counter));
  }
  await replaceMark();
  return { ...counts, keyDropped: usable.keyDropped };

  /** Idempotent: an earlier call may have taken it. */
  async function takeId(): Promise<boolean> {
    const Item: RemovedProjectItem = { projectId, ref, removed: true, arrives: true };
    const isFree = `attribute_not_exists(projectId) OR (${arrives.ConditionExpression})`;
    const put = { TableName: tables.projects, Item, ...arrives, ConditionExpression: isFree };
    try {
      await dynamo.send(new PutCommand(put));
      return true;
    } catch (error) {
      if (isConditionFailure(error)) return false;
      throw error;
    }
  }

  async function replaceMark(): Promise<void> {
    try {
      await dynamo.send(
        new TransactWriteCommand({
          TransactItems: [
            { Put: { TableName: tables.projects, Item: project, ...arrives } },
            { Put: { TableName: tables.vapidKeys, Item: vapidKey } },
            { Put: { TableName: tables.identityKeys, Item: identityKey } },
          ],
        }),
      );
    } catch (error) {
      // Another call has deleted it meanwhile.
      throw cancellationReasons(error).some(conditionFailed) ? projectNotFound(projectId) : error;
    }
  }

  async function putMissing(
    TableName: string,
    items: readonly object[],
    key: PutKey = 'period',
  ): Promise<void> {
    await Promise.all(items.map((Item) => putIfMissing(dynamo, TableName, key, Item)));
  }
}

type PutKey = 'period' | 'projectId' | 'endpointHash';

/** Puts an item, unless there is one with its key. @param key the name of a key. */
export async function putIfMissing(
  dynamo: DynamoDBDocumentClient,
  TableName: string,
  key: PutKey,
  Item: object,
): Promise<void> {
  const ConditionExpression = `attribute_not_exists(${key})`;
  try {
    await dynamo.send(new PutCommand({ TableName, Item, ConditionExpression }));
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
  }
}

/** The subscriptions of a project, but for those to which nobody can push: it has dropped their key. */
export class UsableSubscriptions {
  keyDropped = 0;
  readonly #project: ProjectItem | RegisteredProject;
  readonly #pages: ArrivingProject['subscriptions'];
  readonly #onProgress: (subscriptions: number) => void;

  /** @param onProgress is called with the number that were read so far. */
  constructor(
    project: ProjectItem | RegisteredProject,
    pages: ArrivingProject['subscriptions'],
    onProgress: (subscriptions: number) => void = () => {},
  ) {
    this.#project = project;
    this.#pages = pages;
    this.#onProgress = onProgress;
  }

  async *items(): AsyncGenerator<ImportedSubscription> {
    const keys = applicationServerKeys(this.#project);
    let read = 0;
    for await (const page of this.#pages()) {
      for (const item of page) {
        const vapidPairNumber = item.vapidPairNumber ?? 0;
        if (keys.has(vapidPairNumber)) yield { ...item, vapidPairNumber };
        else this.keyDropped += 1;
      }
      read += page.length;
      this.#onProgress(read);
    }
  }
}
