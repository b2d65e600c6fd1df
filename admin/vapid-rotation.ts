import { setTimeout as sleepFor } from 'node:timers/promises';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { ProjectTables } from '../contract/infrastructure/tables.ts';
import { countText } from '../contract/text/text.ts';
import type { VapidKeys } from '../contract/wire/project.ts';
import { projectCacheMs } from '../lambdas/store/projects.ts';
import { subscriptionStore } from '../lambdas/store/subscriptions.ts';
import { CommandError, ProjectNotFound } from './errors.ts';
import { hashesOfEarlierPairs, removeAllOfEarlierPairs } from './store/all-subscriptions.ts';
import { type RegisteredProject, RegisteredProjects } from './store/registered-projects.ts';
import { newVapidPair } from './vapid-pair.ts';

export interface Waiting {
  readonly sleep: (ms: number) => Promise<unknown>;
  /** Is called before a wait of this many ms. */
  readonly onWait: (ms: number) => void;
}

export const realWaiting: Waiting = { sleep: sleepFor, onWait: () => {} };

/** A function may still use a project that it read this long ago, for one more request of 10 s. */
const forgottenAfterMs = projectCacheMs + 10_000;

/** The fields of a project that identify the subscriptions of its previous pair. */
type RotatedProject = Pick<RegisteredProject, 'ref' | 'vapidPair'>;

interface DropOptions {
  /** Whether to drop a pair that subscriptions still use. */
  readonly isForced: boolean;
  readonly waiting?: Waiting;
  /** Is called with the number of subscriptions removed so far. */
  readonly onProgress?: (removed: number) => void;
}

/**
 * The operations of the registry on a project's VAPID key pairs.
 * @param get throws if there is no such project.
 */
export function vapidRotation(
  dynamo: DynamoDBDocumentClient,
  tables: ProjectTables,
  get: (projectId: string) => Promise<RegisteredProject>,
  clock: () => Date,
  newPair = newVapidPair,
) {
  const projects = new RegisteredProjects(dynamo, tables);
  const subscriptions = subscriptionStore(dynamo, tables, clock);

  /** The number of subscriptions that use the previous pair. Reads all subscriptions. */
  async function countPreviousPair({ ref, vapidPair }: RotatedProject): Promise<number> {
    let count = 0;
    const pages = hashesOfEarlierPairs(dynamo, tables.subscriptions, ref, vapidPair);
    for await (const hashes of pages) count += hashes.length;
    return count;
  }

  return {
    countPreviousPair,

    /**
     * Makes a new VAPID pair current. The one before it becomes the previous pair, with which existing subscriptions
     * still receive their pushes.
     * @throws {ProjectNotFound}
     * @throws {CommandError} if the project still has a previous pair: another rotation would orphan its subscriptions.
     */
    async rotateVapid(projectId: string): Promise<RegisteredProject> {
      const outcome = await projects.rotatePair(projectId, newPair(), clock());
      if (outcome === 'project_gone') throw new ProjectNotFound(projectId);
      if (outcome === 'previous_exists') throw previousExists(projectId);
      return get(projectId);
    },

    /**
     * Adds the pair of another service as the previous one, so that subscriptions from there can be imported. Browsers
     * move to the current one when they visit.
     * @throws {ProjectNotFound}
     * @throws {CommandError} if the project has a previous pair, or if this is its current one.
     */
    async addPreviousVapid(projectId: string, pair: VapidKeys): Promise<RegisteredProject> {
      const project = await get(projectId);
      if (project.vapidPublicKey === pair.publicKey) {
        const message = `This is the current pair of "${projectId}" already.`;
        throw new CommandError('current_vapid_pair', message);
      }
      // Their number would be that of the new pair.
      const isDropped = project.previousVapidPublicKey === undefined;
      const left = isDropped ? await countPreviousPair(project) : 0;
      if (left > 0 || !(await projects.addPreviousPair(projectId, pair, clock()))) {
        throw previousExists(projectId);
      }
      return get(projectId);
    },

    /**
     * Drops the previous pair: first its keys; then, when every function has forgotten them, the subscriptions that use
     * it, because nobody can push to them. Idempotent: the next call finishes an interrupted one.
     * @returns how many subscriptions were removed.
     * @throws {ProjectNotFound}
     * @throws {CommandError} if the project never had a previous pair, was just rotated, or has subscriptions that use it.
     */
    async dropPreviousVapid(
      projectId: string,
      { isForced, waiting = realWaiting, onProgress }: DropOptions,
    ): Promise<number> {
      const project = await get(projectId);
      const { ref, vapidPair, previousVapidPublicKey, vapidRotatedAt } = project;
      if (vapidPair === 0 && vapidRotatedAt === undefined) {
        const message = `Project "${projectId}" has no previous application server key.`;
        throw new CommandError('no_previous_vapid_pair', message);
      }
      // A function that does not know the rotation stores new subscriptions as if they had the previous pair.
      const rotatedAt = Date.parse(vapidRotatedAt ?? project.createdAt);
      const waitMs = rotatedAt + forgottenAfterMs - clock().getTime();
      if (waitMs > 0 && previousVapidPublicKey !== undefined) {
        throw new CommandError(
          'vapid_pair_just_rotated',
          `The application server key of "${projectId}" was just rotated. ` +
            `Drop the previous one in ${Math.ceil(waitMs / 1000)} s at the earliest. Until then, some functions do not know the new key.`,
        );
      }
      const inUse = isForced ? 0 : await countPreviousPair(project);
      if (inUse > 0) {
        throw new CommandError(
          'previous_vapid_pair_in_use',
          `Subscribers of "${projectId}" that still use its previous application server key: ` +
            `${countText(inUse)}. Wait until they have visited the site, or remove them with --revoke.`,
        );
      }
      if (previousVapidPublicKey !== undefined) {
        await projects.dropPreviousPair(projectId, previousVapidPublicKey, clock());
      }
      // Of an interrupted call, the rest of its time.
      const leftMs = previousVapidPublicKey === undefined ? waitMs : forgottenAfterMs;
      if (leftMs > 0) {
        const wholeMs = Math.ceil(leftMs / 1000) * 1000;
        waiting.onWait(wholeMs);
        await waiting.sleep(wholeMs);
      }
      const removal = { dynamo, table: tables.subscriptions, subscriptions };
      return removeAllOfEarlierPairs(removal, ref, vapidPair, onProgress);
    },
  };
}

function previousExists(projectId: string): CommandError {
  return new CommandError(
    'previous_vapid_pair_exists',
    `Project "${projectId}" still has a previous application server key. ` +
      `Drop it first: rotate ${projectId} vapid --drop-previous. If a key has leaked, add --revoke: ` +
      'subscribers that still use the previous one are then lost until they visit.',
  );
}
