import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { ProjectTables, RestoredTables } from '../contract/infrastructure/tables.ts';
import { encodeBase64url } from '../contract/wire/fields.ts';
import type { MemberRole } from '../contract/wire/routes.ts';
import { monthCounter, newParts, utcMonth } from '../lambdas/store/counters.ts';
import type { IdentityKeyItem, ProjectItem } from '../lambdas/store/items.ts';
import { projectStore } from '../lambdas/store/projects.ts';
import { CommandError, ProjectNotFound, removalIncomplete } from './errors.ts';
import { type RandomSource, withNewKeys } from './project-registry.ts';
import { countSubscriptions, isCountRight, recount } from './recount.ts';
import {
  type Arrival,
  type ArrivingProject,
  bringProject,
  haveSameKeys,
  putIfMissing,
  UsableSubscriptions,
  unstored,
  withoutCap,
} from './store/arriving-project.ts';
import { type RegisteredProject, RegisteredProjects } from './store/registered-projects.ts';
import { batchImport, importSubscriptions } from './store/subscription-import.ts';
import { WholeProjects } from './store/whole-projects.ts';

export interface RestoreDependencies {
  readonly dynamo: DynamoDBDocumentClient;
  /** Tables that were restored from a backup. Nobody changes them. */
  readonly backup: RestoredTables;
  readonly tables: ProjectTables;
  readonly clock: () => Date;
}

/** A project of a backup, and what the stack has of it. */
export interface FoundProject {
  /** With the keys that the stack has, if it has them. */
  readonly arriving: ArrivingProject;
  /** The project of the stack. */
  readonly present: RegisteredProject | undefined;
  /**
   * `missing`: nothing of it is left, or not all of it has arrived. `lost`: it has subscriptions, and its item is missing.
   * `other`: a later project has its id, and gets nothing.
   */
  readonly state: 'missing' | 'lost' | 'exists' | 'other';
  /** Subscribers that the backup has counted. */
  readonly subscribers: number;
  /** What an existing project lacks. */
  readonly lacks: readonly ('vapidKey' | 'identityKey' | 'counters')[];
  /** Keys of the backup that the existing project has no longer. */
  readonly revoked: readonly BackupKey[];
}

/** A key that somebody has. */
export type BackupKey =
  | { readonly kind: 'secretKey' | 'previousSecretKey' | 'identityKey' }
  | { readonly kind: 'memberKey'; readonly name: string; readonly role: MemberRole };

/** The keys of a project, by what is stored of each. */
function keysByValue(
  { secretKeyHash, previousKeyHash, previousKeyUntil, members }: ProjectItem,
  identityKey: IdentityKeyItem | undefined,
  now: Date,
): ReadonlyMap<string, BackupKey> {
  const isPrevious = previousKeyUntil !== undefined && Date.parse(previousKeyUntil) > now.getTime();
  return new Map<string, BackupKey>([
    [secretKeyHash, { kind: 'secretKey' }],
    ...(previousKeyHash !== undefined && isPrevious
      ? [[previousKeyHash, { kind: 'previousSecretKey' }] as const]
      : []),
    ...Object.entries(members).map(
      ([name, { keyHash, role }]) => [keyHash, { kind: 'memberKey', name, role }] as const,
    ),
    ...(identityKey ? [[identityKey.identityKey, { kind: 'identityKey' }] as const] : []),
  ]);
}

/**
 * Reads the projects of a backup, and what the stack has of them.
 * @param ids of the projects. Default: all.
 * @throws {CommandError} if the tables do not fit each other, or a project cannot be restored.
 */
export async function findProjects(
  deps: RestoreDependencies,
  ids?: readonly string[],
): Promise<readonly FoundProject[]> {
  const found: FoundProject[] = [];
  for (const projectId of ids ?? (await new WholeProjects(deps.dynamo, deps.backup).ids())) {
    const one = await findProject(deps, projectId);
    if (one !== undefined) found.push(one);
    else if (ids) throw new ProjectNotFound(projectId, ' The backup has no project with this id.');
  }
  return found;
}

async function findProject(
  { dynamo, backup, tables, clock }: RestoreDependencies,
  projectId: string,
): Promise<FoundProject | undefined> {
  const source = new WholeProjects(dynamo, backup);
  const own = new WholeProjects(dynamo, tables);
  const found = await source.find(projectId);
  if (found === undefined) return undefined;
  const { project } = found;
  const { ref } = project;
  const stored = await new RegisteredProjects(dynamo, tables).findProjectOrMark(projectId);
  const isMark = stored !== undefined && 'removed' in stored;
  const arrives = isMark && stored.arrives === true && stored.ref === ref;
  if (isMark && !arrives) throw removalIncomplete(projectId);
  const present = isMark ? undefined : stored;
  const isCounted = (await own.usageOf(ref)).subscribers !== undefined;
  const state =
    present !== undefined
      ? present.ref === ref
        ? 'exists'
        : 'other'
      : arrives || (await isGone())
        ? 'missing'
        : 'lost';

  // The keys that the stack has are newer.
  const ownKeys = state === 'other' ? undefined : await own.keysOf(projectId);
  const vapidKey = ownKeys?.vapidKey ?? found.vapidKey;
  const identityKey = ownKeys?.identityKey ?? found.identityKey;
  const keyed = state === 'exists' ? present! : project;
  if (identityKey === undefined || vapidKey === undefined || !haveSameKeys(keyed, vapidKey)) {
    throw new CommandError(
      'restored_keys_mismatch',
      `The tables Projects, VapidKeys and IdentityKeys do not have the same keys of project "${projectId}": ` +
        'they were changed at that second, or since. Take another second.',
    );
  }
  const ownProject = state === 'exists' ? (await own.find(projectId))?.project : undefined;
  const valid = ownProject && keysByValue(ownProject, identityKey, clock());
  const ofBackup = keysByValue(project, found.identityKey, clock());
  const { months, subscribers = 0 } = await source.usageOf(ref);
  return {
    arriving: {
      ...{ project, vapidKey, identityKey, months },
      erasures: () => source.erasuresOf(ref),
      subscriptions: () => source.subscriptionsOf(ref),
    },
    ...{ present, state, subscribers },
    lacks: [
      ...(ownKeys?.vapidKey === undefined ? (['vapidKey'] as const) : []),
      ...(ownKeys?.identityKey === undefined ? (['identityKey'] as const) : []),
      ...(isCounted ? [] : (['counters'] as const)),
    ],
    revoked: valid ? [...ofBackup].flatMap(([value, key]) => (valid.has(value) ? [] : [key])) : [],
  };

  /** Whether the project was deleted with all that it had. */
  async function isGone(): Promise<boolean> {
    return !isCounted && (await countSubscriptions({ dynamo, tables }, ref)) === 0;
  }
}

export interface RestoreOptions {
  /** Whether projects that are missing get a new secret key, and no members. */
  readonly newKeys: boolean;
  /** Whether projects that exist also get the subscriptions that they lack. */
  readonly addSubscriptions: boolean;
  /** Whether missing projects that keep their keys send nothing until the operator resumes them. */
  readonly pauses: boolean;
  readonly dryRun: boolean;
  readonly deployedCap: number;
  readonly random: RandomSource;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<unknown>;
  /** Is called with the number of subscriptions of this project that were read so far. */
  readonly onProgress?: (subscriptions: number) => void;
}

/** What became of a project. */
export interface RestoredProject extends Arrival {
  readonly projectId: string;
  readonly project: 'created' | 'exists' | 'other';
  /** What an existing project lacked and got. */
  readonly filled: FoundProject['lacks'];
  /** Of a project with new keys. */
  readonly secretKey?: string | undefined;
  /** Keys of a created project that are as in the backup, also if they were revoked since: nothing is left that knows. */
  readonly validAgain: readonly BackupKey[];
  /** Keys of the backup that an existing project has no longer, and does not get. */
  readonly stillRevoked: readonly BackupKey[];
  /** Since when it is paused, if it was created. */
  readonly pausedAt?: string | undefined;
}

const nothing = { created: 0, updated: 0, unchanged: 0, overCap: 0, erased: 0, keyDropped: 0 };

/**
 * Restores a project: one that is missing as a whole, of one that exists what it lacks. Repeat it after an interruption.
 * @throws {CommandError}
 */
export async function restoreProject(
  deps: RestoreDependencies,
  found: FoundProject,
  options: RestoreOptions,
): Promise<RestoredProject> {
  const { dynamo, tables, clock } = deps;
  const { state, lacks, arriving } = found;
  const { projectId, ref } = arriving.project;
  const { dryRun, onProgress } = options;
  const result = {
    ...{ projectId, filled: [] as FoundProject['lacks'], ...nothing },
    ...{ validAgain: [], stillRevoked: found.revoked },
  };
  if (state === 'other') return { ...result, project: 'other' };
  if (state === 'exists') {
    if (!dryRun) await fill();
    const added = options.addSubscriptions ? await addSubscriptions(found.present!) : nothing;
    return { ...result, filled: lacks, ...added, project: 'exists' };
  }
  const { secretKey, ...named } = options.newKeys
    ? withNewKeys(arriving.project, options.random)
    : { ...arriving, secretKey: undefined };
  const isWhole = state === 'missing';
  const pausedAt =
    named.project.pausedAt ??
    (options.pauses && isWhole && !options.newKeys ? clock().toISOString() : undefined);
  const project: ProjectItem =
    pausedAt === undefined ? named.project : { ...named.project, pausedAt };
  // An identity key that the stack still has is not older than the backup's.
  const identityKey = lacks.includes('identityKey') ? arriving.identityKey : undefined;
  const ofBackup = keysByValue(arriving.project, identityKey, clock());
  const validAgain = [...keysByValue(project, identityKey, clock())].flatMap(([value, key]) =>
    ofBackup.has(value) ? [key] : [],
  );
  const created = { ...result, project: 'created', secretKey, validAgain, pausedAt } as const;
  if (dryRun) return { ...created, secretKey: undefined, ...(await wouldArrive()) };
  const subscriptions = isWhole ? arriving.subscriptions : async function* () {};
  const arrival = await bringProject(
    dynamo,
    tables,
    { ...arriving, project, subscriptions },
    { ...options, clock },
  );
  if (arrival === 'taken') throw removalIncomplete(projectId);
  if (isWhole) return { ...created, ...arrival };
  if (lacks.includes('counters')) await count(project);
  const added = options.addSubscriptions ? await addSubscriptions(project) : nothing;
  return { ...created, ...arrival, ...added };

  async function fill(): Promise<void> {
    const { vapidKey, identityKey } = arriving;
    if (lacks.includes('vapidKey')) {
      await putIfMissing(dynamo, tables.vapidKeys, 'projectId', vapidKey);
    }
    if (lacks.includes('identityKey')) {
      await putIfMissing(dynamo, tables.identityKeys, 'projectId', identityKey);
    }
    if (lacks.includes('counters')) await count(found.present!);
  }

  /** Counts what is stored. The backup knows the notifications of earlier months. */
  async function count(counted: Pick<RegisteredProject, 'projectId' | 'ref'>): Promise<void> {
    const present = utcMonth(clock());
    for (const [month, sends] of arriving.months) {
      if (month === present) continue;
      for (const part of newParts(monthCounter(tables.usage, ref, new Date(month)), sends)) {
        await putIfMissing(dynamo, tables.usage, 'period', part);
      }
    }
    await recount({ ...deps, ...options, sentAtLeast: arriving.months.get(present) }, counted);
  }

  async function addSubscriptions(to: Parameters<typeof usable>[0]): Promise<Arrival> {
    const isCounted = dryRun && lacks.includes('counters');
    if (!isCounted && !(await isCountRight({ dynamo, tables }, ref))) {
      throw new CommandError(
        'wrong_count',
        `The counter of "${projectId}" is not that of its subscriptions. First: carillon recount ${projectId}. Then repeat this.`,
      );
    }
    const source = usable(to);
    // In a dry run, a lost project is not there yet.
    const isThere = !dryRun || state !== 'lost';
    const projects = isThere ? projectStore(dynamo, tables.projects, clock) : unstored(project);
    const importBatch = batchImport(dynamo, tables, projects, options.deployedCap, dryRun);
    const deps = { projectId, importBatch, sleep: options.sleep };
    const counts = await importSubscriptions(source.items(), deps);
    return { ...counts, keyDropped: source.keyDropped };
  }

  async function wouldArrive(): Promise<Partial<Arrival>> {
    if (state === 'lost') return options.addSubscriptions ? addSubscriptions(project) : {};
    const erasedHashes = new Set<string>();
    for await (const page of arriving.erasures())
      for (const one of page) erasedHashes.add(encodeBase64url(one.endpointHash));
    const source = usable(arriving.project);
    let erased = 0;
    async function* items() {
      for await (const one of source.items())
        if (erasedHashes.has(encodeBase64url(one.endpointHash))) erased += 1;
        else yield one;
    }
    // As it arrives: beside what an interrupted call has brought, and whatever the cap.
    const importBatch = batchImport(dynamo, tables, unstored(withoutCap(project)), 0, true);
    const deps = { projectId, importBatch, sleep: options.sleep };
    const counts = await importSubscriptions(items(), deps);
    return { ...counts, erased: counts.erased + erased, keyDropped: source.keyDropped };
  }

  function usable(to: ConstructorParameters<typeof UsableSubscriptions>[0]) {
    return new UsableSubscriptions(to, arriving.subscriptions, onProgress);
  }
}
