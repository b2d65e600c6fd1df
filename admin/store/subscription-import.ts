import { isDeepStrictEqual } from 'node:util';
import { type DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { ServiceError } from '../../contract/wire/errors.ts';
import { limitOf, type Project } from '../../contract/wire/project.ts';
import {
  type Room,
  readParts,
  roomBelow,
  roomOf,
  sharesOf,
  subscriberCounter,
  subscriberPartCount,
  sumOf,
  takeUnits,
} from '../../lambdas/store/counters.ts';
import {
  attributeChanges,
  batchGet,
  cancellationReasons,
  conditionFailed,
} from '../../lambdas/store/dynamo.ts';
import {
  carriedAttributes,
  chosenAttributes,
  type ErasureItem,
  erasureKey,
  partitionCount,
  partitionOf,
  type SubscriptionItem,
  storedPairNumber,
} from '../../lambdas/store/items.ts';
import type { ProjectStore } from '../../lambdas/store/projects.ts';
import { beingCounted } from '../../lambdas/store/subscriptions.ts';
import { projectNotFound } from './registered-projects.ts';

/**
 * Subscriptions of one transaction. DynamoDB's limit is 100 items, and close to the cap all parts of the counter
 * may be among them.
 */
const importBatchSize = 100 - subscriberPartCount;

/** A subscription to store, as {@link SubscriptionItem} but for its pair. */
export interface ImportedSubscription extends Omit<SubscriptionItem, 'vapidPairNumber'> {
  /**
   * Number of the VAPID pair that it was made with. Undefined if that is not known: as in subscribe, a new
   * subscription then has the current pair, and a stored one keeps its own.
   */
  readonly vapidPairNumber: number | undefined;
  /**
   * Whether its source does not say when it was updated, and `updatedAt` is the time of the import. Then it does not
   * replace what the browser has chosen itself.
   */
  readonly isUntimed?: boolean;
}

/** What became of a batch. */
export interface ImportedBatch extends ImportCounts {
  /** The batch without the subscriptions over the cap. */
  readonly stored: readonly ImportedSubscription[];
}

/** What became of imported subscriptions. */
export interface ImportCounts {
  readonly created: number;
  readonly updated: number;
  /** They are stored like this, or with a later `updatedAt`. */
  readonly unchanged: number;
  /** The project's subscriber cap rejected them. */
  readonly overCap: number;
  /** Their browsers were erased, and stay away. */
  readonly erased: number;
}

const none = { created: 0, updated: 0, unchanged: 0, overCap: 0, erased: 0 };

/**
 * Stores subscriptions of one partition of a project, with different endpoints, as far as its subscriber cap allows.
 * New subscriptions and their count are one transaction: interrupted anywhere, the counter is exact, and the
 * same call again stores the rest. A subscription without a user id or without channels keeps the stored ones.
 * @throws {ServiceError} `project_not_found`
 */
export type ImportBatch = (
  projectId: string,
  batch: readonly ImportedSubscription[],
) => Promise<ImportedBatch>;

/** What was in the tables when a batch was looked up. */
interface Stored {
  /** By endpoint hash in hex. */
  readonly items: ReadonlyMap<string, SubscriptionItem>;
  readonly room: Room;
}

/**
 * @param deployedCap most subscribers where a project sets no cap.
 * @param projects remembers a project only as long as functions do, so that an import follows a change of the cap.
 * @param dryRun only counts what would be stored; of a repeated endpoint, the later lines as updated.
 */
export function batchImport(
  dynamo: DynamoDBDocumentClient,
  tables: { readonly subscriptions: string; readonly usage: string },
  projects: Pick<ProjectStore, 'find' | 'refresh'>,
  deployedCap: number,
  dryRun = false,
): ImportBatch {
  /** Hashes, in hex, of the endpoints that a dry run would have added. */
  const planned = new Set<string>();
  // Whether the batch before was partly stored already, as in a repeated import, or met the cap. Then a look-up
  // is cheaper than a write that fails.
  let startsWithLookUp = dryRun;
  return async (projectId, given) => {
    for (let isRepeated = false; ; isRepeated = true) {
      const project = await projects.find(projectId);
      if (project === undefined) throw projectNotFound(projectId);
      const isLookedUp = startsWithLookUp || isRepeated;
      const stored = isLookedUp ? await lookUp(project, given) : unknown(project);
      // After the look-up: what that has not found may have been erased just before.
      const batch = await withoutErased(project, given);
      if (batch.length === 0) return { ...none, erased: given.length, stored: [] };
      if (isLookedUp) {
        const ownRoom = stored.room.parts[partitionOf(batch[0]!.endpointHash)]!;
        startsWithLookUp = dryRun || stored.items.size > 0 || ownRoom < batch.length;
      }
      const counts = await write(project, batch, stored);
      if (counts !== undefined) return { ...counts, erased: given.length - batch.length };
    }
  };

  /** What a write assumes that comes without a look-up. */
  function unknown(project: Project): Stored {
    const parts = Array(subscriberPartCount).fill(Number.POSITIVE_INFINITY);
    return { items: new Map(), room: { cap: capOf(project), parts } };
  }

  /** The batch without the subscriptions whose browsers were erased. */
  async function withoutErased(
    { ref }: Project,
    batch: readonly ImportedSubscription[],
  ): Promise<readonly ImportedSubscription[]> {
    const keys = batch.map(({ endpointHash }) => erasureKey(ref, endpointHash));
    const erased = await batchGet<ErasureItem>(dynamo, tables.subscriptions, keys);
    const hashes = new Set(erased.map(({ endpointHash }) => hex(endpointHash)));
    return batch.filter(({ endpointHash }) => !hashes.has(hex(endpointHash)));
  }

  /** @returns undefined, and nothing is written, unless `stored` is what is in the tables. */
  async function write(
    project: Project,
    batch: readonly ImportedSubscription[],
    { items, room }: Stored,
  ): Promise<Omit<ImportedBatch, 'erased'> | undefined> {
    const isStored = (item: ImportedSubscription) => items.has(hex(item.endpointHash));
    const isPlanned = (item: ImportedSubscription) => planned.has(hex(item.endpointHash));
    const missing = batch.filter((item) => !isStored(item) && !isPlanned(item));
    const added = missing.slice(0, Math.max(0, sumOf(room.parts) - planned.size));
    const overCap = new Set(missing.slice(added.length));
    const known = batch.filter(isStored);
    const storedAs = (item: ImportedSubscription) => items.get(hex(item.endpointHash))!;
    const changed = known.filter((item) => changes(storedAs(item), item));
    // In a dry run, those with the endpoint of a planned one.
    const repeated = batch.length - known.length - missing.length;
    const TransactItems = [
      ...added.map((item) => put(project, item)),
      ...changed.map((item) => update(item, storedAs(item))),
      ...(added.length > 0 ? count(project, added, room) : []),
    ];
    try {
      if (dryRun) for (const item of added) planned.add(hex(item.endpointHash));
      else if (TransactItems.length > 0)
        await dynamo.send(new TransactWriteCommand({ TransactItems }));
    } catch (error) {
      if (cancellationReasons(error).some(conditionFailed)) return undefined;
      throw error;
    }
    return {
      created: added.length,
      updated: changed.length + repeated,
      unchanged: known.length - changed.length,
      overCap: overCap.size,
      stored: batch.filter((item) => !overCap.has(item)),
    };
  }

  async function lookUp(project: Project, batch: readonly ImportedSubscription[]): Promise<Stored> {
    const reading = batchGet<SubscriptionItem>(dynamo, tables.subscriptions, batch.map(keyOf));
    const [items, room] = await Promise.all([reading, readRoom(project)]);
    return { items: new Map(items.map((item) => [hex(item.endpointHash), item])), room };
  }

  /** @throws {ServiceError} `project_not_found` if the project is being removed. */
  async function readRoom(project: Project): Promise<Room> {
    const [counter, cap] = [counterOf(project), capOf(project)];
    if (dryRun) {
      const room = roomBelow(cap, await readParts(dynamo, counter));
      return { cap, parts: sharesOf(room, subscriberPartCount) };
    }
    const readCap = async () => {
      const stored = await projects.refresh(project.projectId);
      if (stored === undefined) throw projectNotFound(project.projectId);
      return capOf(stored);
    };
    const room = await roomOf(dynamo, counter, cap, readCap, Date.now());
    if (room === 'closed') throw beingCounted();
    if (room === undefined) throw projectNotFound(project.projectId);
    return room;
  }

  function counterOf({ ref }: Project) {
    return subscriberCounter(tables.usage, ref);
  }

  function capOf({ settings }: Project): number | null {
    return limitOf(settings.subscriberCap, deployedCap);
  }

  function put(
    { vapid }: Project,
    { vapidPairNumber = vapid.current.number, isUntimed, ...item }: ImportedSubscription,
  ) {
    const Item: SubscriptionItem = {
      ...item,
      userSince: userSinceOf(item, item.createdAt),
      vapidPairNumber: storedPairNumber(vapidPairNumber),
    };
    return {
      Put: {
        TableName: tables.subscriptions,
        Item,
        ConditionExpression: 'attribute_not_exists(endpointHash)',
      },
    };
  }

  /** Fails if the subscription was changed since the look-up: its browser knows better. */
  function update(item: ImportedSubscription, stored: SubscriptionItem) {
    const changed = { ...given(item, stored), updatedAt: item.updatedAt };
    return {
      Update: {
        TableName: tables.subscriptions,
        Key: keyOf(item),
        ConditionExpression: 'updatedAt = :readUpdatedAt',
        ...attributeChanges(changed, { conditionValues: { readUpdatedAt: stored.updatedAt } }),
      },
    };
  }

  /** Counts new subscriptions of one partition: in the part of its number, and in others as far as that is full. */
  function count(project: Project, added: readonly ImportedSubscription[], { cap, parts }: Room) {
    const counter = counterOf(project);
    const first = partitionOf(added[0]!.endpointHash);
    let left = added.length;
    return parts.flatMap((_, index) => {
      const part = (first + index) % parts.length;
      const units = Math.min(left, parts[part]!);
      if (units === 0) return [];
      left -= units;
      return [{ Update: takeUnits(counter, part, units, cap) }];
    });
  }
}

function keyOf({ projectPart, endpointHash }: ImportedSubscription) {
  return { projectPart, endpointHash };
}

/** Whether a subscription differs from the stored one, and is not older. */
function changes(stored: SubscriptionItem, item: ImportedSubscription): boolean {
  if (item.updatedAt < stored.updatedAt) return false;
  return !hasAttributes(stored, given(item, stored));
}

/** What a line sets of a stored subscription: what it leaves out stays. */
function given(item: ImportedSubscription, stored: SubscriptionItem): Partial<SubscriptionItem> {
  const { projectPart, endpointHash, createdAt, firstAt, updatedAt, imported, ...rest } = item;
  const { isUntimed, vapidPairNumber, userSince: _, ...attributes } = rest;
  const hasChosen = !stored.imported && chosenAttributes.some((name) => stored[name] !== undefined);
  const carried = carriedAttributes.filter((name) => stored[name] !== undefined);
  const kept: readonly string[] = isUntimed
    ? [...(hasChosen ? chosenAttributes : []), ...carried]
    : [];
  const set = Object.entries(attributes).filter(
    ([name, value]) => value !== undefined && !kept.includes(name),
  );
  const changed: Partial<SubscriptionItem> = Object.fromEntries(set);
  const isOtherUser = ![undefined, stored.projectUser].includes(changed.projectUser);
  return {
    ...changed,
    ...(isOtherUser && { userSince: userSinceOf(item, updatedAt) }),
    ...(vapidPairNumber !== undefined && { vapidPairNumber: storedPairNumber(vapidPairNumber) }),
  };
}

/** Since when it has its user: epoch ms. @param assumed if its source does not say so. */
function userSinceOf(
  { projectUser, userSince }: Pick<SubscriptionItem, 'projectUser' | 'userSince'>,
  assumed: number,
): number | undefined {
  return projectUser === undefined ? undefined : (userSince ?? assumed);
}

/** Whether a stored subscription already is as these attributes would make it. */
function hasAttributes(stored: SubscriptionItem, attributes: Partial<SubscriptionItem>): boolean {
  const names = Object.keys(attributes) as (keyof SubscriptionItem)[];
  return names.every((name) => {
    const [one, other] = [stored[name], attributes[name]];
    return one instanceof Uint8Array && other instanceof Uint8Array
      ? Buffer.from(one).equals(other)
      : isDeepStrictEqual(one, other);
  });
}

function hex(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex');
}

export interface ImportDependencies {
  readonly projectId: string;
  readonly importBatch: ImportBatch;
  readonly sleep: (ms: number) => Promise<unknown>;
  /** Called with each subscription that is stored now, also if it was before. */
  readonly onStored?: (subscription: ImportedSubscription) => void;
}

/** Pauses while the database throttles; a new table doubles its capacity within minutes. */
const busyDelaysMs = [1000, 2000, 5000, 10_000, 20_000, 30_000, 30_000, 30_000];

/**
 * Imports subscriptions in their order, as if each were imported alone: {@link ImportBatch} says what the second of
 * two with the same endpoint changes. If the import fails or is killed, the same import again completes it.
 *
 * One batch per partition is in progress at a time, so that batches do not conflict, and those with the same endpoint
 * are written in their order.
 * @returns counts that add up to the subscriptions.
 * @throws {ServiceError} `project_not_found`.
 */
export async function importSubscriptions(
  subscriptions: AsyncIterable<ImportedSubscription>,
  { projectId, importBatch, sleep, onStored = () => {} }: ImportDependencies,
): Promise<ImportCounts> {
  const total = { ...none };
  /** By partition: its next batch, by endpoint. */
  const batches = Array.from(
    { length: partitionCount },
    () => new Map<string, ImportedSubscription>(),
  );
  const inProgress = new Map<number, Promise<void>>();
  let failure: { readonly error: unknown } | undefined;

  for await (const item of subscriptions) {
    const endpoint = item.origin + item.path;
    const partition = partitionOf(item.endpointHash);
    const batch = batches[partition]!;
    // Not merged here: only the database knows what the first one changes.
    if (batch.has(endpoint)) await start(partition);
    batch.set(endpoint, item);
    if (batch.size === importBatchSize) await start(partition);
    if (failure) throw failure.error;
  }
  for (const partition of batches.keys()) await start(partition);
  await Promise.all(inProgress.values());
  if (failure) throw failure.error;
  return total;

  /** Waits for the partition's batch before, and starts to write this one. */
  async function start(partition: number): Promise<void> {
    const batch = [...batches[partition]!.values()];
    batches[partition]!.clear();
    await inProgress.get(partition);
    if (failure || batch.length === 0) return;
    const writing = write(batch).catch((error: unknown) => {
      failure ??= { error };
    });
    inProgress.set(partition, writing);
  }

  async function write(batch: readonly ImportedSubscription[]): Promise<void> {
    for (let busy = 0; ; busy += 1) {
      try {
        const counts = await importBatch(projectId, batch);
        total.created += counts.created;
        total.updated += counts.updated;
        total.unchanged += counts.unchanged;
        total.overCap += counts.overCap;
        total.erased += counts.erased;
        for (const subscription of counts.stored) onStored(subscription);
        return;
      } catch (error) {
        const isBusy = error instanceof ServiceError && error.code === 'unavailable';
        if (!isBusy || busy === busyDelaysMs.length) throw error;
        await sleep(busyDelaysMs[busy]!);
      }
    }
  }
}
