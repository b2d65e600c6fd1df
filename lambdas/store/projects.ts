import { type DynamoDBDocumentClient, GetCommand, TransactGetCommand } from '@aws-sdk/lib-dynamodb';
import {
  type IdentityProject,
  type Member,
  type Project,
  type SigningProject,
  withDefaults,
} from '../../contract/wire/project.ts';
import type {
  IdentityKeyItem,
  MemberItem,
  ProjectItem,
  RemovedProjectItem,
  VapidKeyItem,
} from './items.ts';

/** Milliseconds for which a function uses a project that it has read. A rotated key ends this much later. */
export const projectCacheMs = 30_000;
/**
 * Milliseconds after which a request of an unknown project, or with an unknown key, has the project read again: a new
 * one works within this time.
 */
const unknownCacheMs = 2000;
/** Projects that a function remembers, and as many ids without a project. */
const capacity = 1000;

export type ProjectStore<Found extends Project = Project> = ReturnType<typeof remembering<Found>>;

export function projectStore(dynamo: DynamoDBDocumentClient, table: string, clock: () => Date) {
  return remembering(clock, async (projectId, signal) => {
    const item = await readProject(dynamo, table, projectId, signal);
    return item && projectOf(item);
  });
}

/** Finds a project with the keys that sign user ids, which are stored in a separate table. */
export function identityProjectStore(
  dynamo: DynamoDBDocumentClient,
  tables: { readonly projects: string; readonly identityKeys: string },
  clock: () => Date,
) {
  return remembering<IdentityProject>(clock, async (projectId, signal) => {
    const [item, keys] = await Promise.all([
      readProject(dynamo, tables.projects, projectId, signal),
      readItem<IdentityKeyItem>(dynamo, tables.identityKeys, projectId, signal),
    ]);
    if (item === undefined || keys === undefined) return undefined;
    const { previousIdentityKeyUntil: until } = item;
    const { identityKey, previousIdentityKey: key } = keys;
    const previousIdentityKey = key && until ? { key, until: new Date(until) } : undefined;
    return { ...projectOf(item), identityKey, previousIdentityKey };
  });
}

async function readProject(
  dynamo: DynamoDBDocumentClient,
  table: string,
  projectId: string,
  signal: AbortSignal | undefined,
): Promise<ProjectItem | undefined> {
  return existing(await readItem(dynamo, table, projectId, signal));
}

/** @returns undefined for a project that is being removed. */
function existing(item: ProjectItem | RemovedProjectItem | undefined): ProjectItem | undefined {
  return item === undefined || 'removed' in item ? undefined : item;
}

async function readItem<Item>(
  dynamo: DynamoDBDocumentClient,
  table: string,
  projectId: string,
  abortSignal: AbortSignal | undefined,
): Promise<Item | undefined> {
  const { Item } = await dynamo.send(
    new GetCommand({ TableName: table, Key: { projectId }, ConsistentRead: true }),
    { abortSignal },
  );
  return Item as Item | undefined;
}

/** Finds a project with its VAPID key pairs. The private keys are stored in a separate table. */
export function signingProjectStore(
  dynamo: DynamoDBDocumentClient,
  tables: { readonly projects: string; readonly vapidKeys: string },
  clock: () => Date,
) {
  return remembering<SigningProject>(clock, async (projectId, abortSignal) => {
    // In one transaction, so that both halves are of the same pair, also during a rotation.
    const { Responses } = await dynamo.send(
      new TransactGetCommand({
        TransactItems: [
          { Get: { TableName: tables.projects, Key: { projectId } } },
          { Get: { TableName: tables.vapidKeys, Key: { projectId } } },
        ],
      }),
      { abortSignal },
    );
    const [item, key] = Responses!.map(({ Item }) => Item) as [ProjectItem?, VapidKeyItem?];
    const project = existing(item);
    if (project === undefined) return undefined;
    const found = projectOf(project);
    const { current, previous } = found.vapid;
    const { privateKey, previousPrivateKey } = key!;
    return {
      ...found,
      vapid: {
        current: { ...current, privateKey },
        previous: previous && { ...previous, privateKey: previousPrivateKey! },
      },
    };
  });
}

function remembering<Found extends Project>(
  clock: () => Date,
  read: (projectId: string, signal?: AbortSignal) => Promise<Found | undefined>,
) {
  const present = new RecentlyUsed<Found>();
  // Separate, so that invented ids cannot displace a project.
  const absent = new RecentlyUsed<undefined>();
  let reads = 0;
  return {
    /** Reads a project, from memory if it was read in the last 30 s. */
    async find(projectId: string, signal?: AbortSignal): Promise<Found | undefined> {
      const now = clock().getTime();
      if (absent.has(projectId, now)) return undefined;
      return present.get(projectId, now) ?? readAndRemember(projectId, now, signal);
    },

    /**
     * Reads a project again for a request with a key that the one in memory does not have: at most once in 2 s, because
     * anybody can make such requests.
     * @returns undefined if the one in memory is as new.
     */
    async findNewer(projectId: string, signal?: AbortSignal): Promise<Found | undefined> {
      const now = clock().getTime();
      const isNew = [present, absent].some((cache) =>
        cache.wasReadAfter(projectId, now - unknownCacheMs),
      );
      return isNew ? undefined : readAndRemember(projectId, now, signal);
    },

    /** Reads a project again: the one in memory may not have its newest keys. */
    refresh: (projectId: string, signal?: AbortSignal) =>
      readAndRemember(projectId, clock().getTime(), signal),
  };

  async function readAndRemember(
    projectId: string,
    now: number,
    signal?: AbortSignal,
  ): Promise<Found | undefined> {
    reads += 1;
    const number = reads;
    const project = await read(projectId, signal);
    // One that began later knows better.
    if (present.isNewer(projectId, number) || absent.isNewer(projectId, number)) return project;
    if (project === undefined) {
      present.delete(projectId);
      absent.set(projectId, { value: undefined, number, readAt: now, until: now + unknownCacheMs });
    } else {
      absent.delete(projectId);
      present.set(projectId, { value: project, number, readAt: now, until: now + projectCacheMs });
    }
    return project;
  }
}

interface Entry<Value> {
  readonly value: Value;
  /** The number of the read that found it. */
  readonly number: number;
  /** Epoch ms: when that read began, and until when the value is used. */
  readonly readAt: number;
  readonly until: number;
}

/** A cache of values with an expiry time each. The least recently used one is dropped for a new one. */
class RecentlyUsed<Value> {
  // In the order of their last use.
  readonly #entries = new Map<string, Entry<Value>>();

  has(key: string, now: number): boolean {
    const entry = this.#entries.get(key);
    return entry !== undefined && now < entry.until;
  }

  get(key: string, now: number): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || now >= entry.until) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Whether the value is that of a later read. */
  isNewer(key: string, number: number): boolean {
    return (this.#entries.get(key)?.number ?? 0) > number;
  }

  /** @param time epoch ms. */
  wasReadAfter(key: string, time: number): boolean {
    return (this.#entries.get(key)?.readAt ?? 0) > time;
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  set(key: string, entry: Entry<Value>): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size > capacity) this.#entries.delete(this.#entries.keys().next().value!);
  }
}

/** A project as functions know it. */
export function projectOf(item: ProjectItem): Project {
  const { previousKeyHash: hash, previousKeyUntil: until, members } = item;
  const { vapidPublicKey, vapidPair: number, previousVapidPublicKey } = item;
  return {
    projectId: item.projectId,
    ref: item.ref,
    internalKey: item.internalKey,
    secretKeyHash: item.secretKeyHash,
    previousKey: hash && until ? { hash, until: new Date(until) } : undefined,
    members: Object.entries(members).map(memberOf),
    settings: withDefaults(item.settings),
    createdAt: item.createdAt,
    pausedAt: item.pausedAt,
    vapid: {
      current: { number, publicKey: vapidPublicKey },
      previous:
        previousVapidPublicKey === undefined
          ? undefined
          : { number: number - 1, publicKey: previousVapidPublicKey },
    },
  };
}

function memberOf([name, { role, keyHash, expiresAt }]: [string, MemberItem]): Member {
  return { name, role, keyHash, until: expiresAt === undefined ? undefined : new Date(expiresAt) };
}
