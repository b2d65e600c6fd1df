import { setTimeout as sleepFor } from 'node:timers/promises';
import {
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { countText } from '../contract/count-text.ts';
import { sliceSizes } from '../contract/slice-sizes.ts';
import { cancellationReasons, conditionFailed } from '../lambdas/store/dynamo.ts';
import { projectCacheMs } from '../lambdas/store/projects.ts';
import { subscriptionStore } from '../lambdas/store/subscriptions.ts';
import { CommandError, ProjectNotFound } from './errors.ts';
import type { ProjectTables } from './project-tables.ts';
import type { RegisteredProject } from './registered-project.ts';
import { subscriptionPages } from './subscriptions/subscription-pages.ts';
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

type Change = Partial<UpdateCommandInput> & { readonly UpdateExpression: string };

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
  const subscriptions = subscriptionStore(dynamo, tables, clock);

  /** Endpoint hashes of the subscriptions that use an earlier pair, page by page. Reads all subscriptions. */
  async function* ofEarlierPairs({ ref, vapidPair }: RotatedProject) {
    const pages = subscriptionPages(dynamo, tables.subscriptions, ref, {
      ProjectionExpression: 'endpointHash',
      FilterExpression: 'attribute_not_exists(vapidPairNumber) OR vapidPairNumber < :current',
      ExpressionAttributeValues: { ':current': vapidPair },
    });
    for await (const items of pages) yield items.map(({ endpointHash }) => endpointHash);
  }

  /** The number of subscriptions that use the previous pair. Reads all subscriptions. */
  async function countPreviousPair(project: RotatedProject): Promise<number> {
    let count = 0;
    if (project.vapidPair === 0) return count;
    for await (const hashes of ofEarlierPairs(project)) count += hashes.length;
    return count;
  }

  return {
    countPreviousPair,

    /**
     * Makes a new VAPID pair current. The one before it becomes the previous pair, with which existing
     * subscriptions still receive their pushes.
     * @throws {ProjectNotFound}
     * @throws {CommandError} if the project still has one from an earlier rotation: another rotation would orphan the
     *   oldest subscriptions.
     */
    async rotateVapid(projectId: string): Promise<RegisteredProject> {
      const { publicKey, privateKey } = newPair();
      try {
        await updateKeys(
          projectId,
          {
            UpdateExpression:
              'SET previousVapidPublicKey = vapidPublicKey, vapidPublicKey = :key, vapidPair = vapidPair + :one, vapidRotatedAt = :now',
            ConditionExpression:
              'attribute_exists(vapidPublicKey) AND attribute_not_exists(previousVapidPublicKey)',
            ExpressionAttributeValues: {
              ...{ ':key': publicKey, ':one': 1, ':now': clock().toISOString() },
            },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
          {
            UpdateExpression: 'SET previousPrivateKey = privateKey, privateKey = :key',
            ConditionExpression: 'attribute_exists(privateKey)',
            ExpressionAttributeValues: { ':key': privateKey },
          },
        );
      } catch (error) {
        const [reason] = cancellationReasons(error);
        if (!conditionFailed(reason)) throw error;
        throw reason?.Item?.vapidPublicKey === undefined
          ? new ProjectNotFound(projectId)
          : new CommandError(
              'previous_vapid_pair_exists',
              `Project "${projectId}" still has a previous application server key. ` +
                `Drop it first, with the command rotate ${projectId} vapid --drop-previous.`,
            );
      }
      return get(projectId);
    },

    /**
     * Drops the previous pair: first its keys; then, when every function has forgotten them, the
     * subscriptions that use it. Nobody could push to these any more. Idempotent: a call that was
     * interrupted is finished by the next one.
     * @returns how many subscriptions were removed.
     * @throws {ProjectNotFound}
     * @throws {CommandError} if the pair was never rotated, or just now, or the previous one is in use.
     */
    async dropPreviousVapid(
      projectId: string,
      { isForced, waiting = realWaiting, onProgress = () => {} }: DropOptions,
    ): Promise<number> {
      const project = await get(projectId);
      if (project.vapidPair === 0) {
        const message = `Project "${projectId}" has no previous application server key.`;
        throw new CommandError('no_previous_vapid_pair', message);
      }
      // A function that does not know the rotation stores new subscriptions as if they had the previous pair.
      const waitMs =
        Date.parse(project.vapidRotatedAt ?? project.createdAt) +
        forgottenAfterMs -
        clock().getTime();
      if (waitMs > 0) {
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
      if (project.previousVapidPublicKey !== undefined) {
        await dropKeys(projectId, project.previousVapidPublicKey);
        waiting.onWait(forgottenAfterMs);
        await waiting.sleep(forgottenAfterMs);
      }
      let removed = 0;
      for await (const hashes of ofEarlierPairs(project)) {
        for (let at = 0; at < hashes.length; at += sliceSizes.removalBatch) {
          const batch = hashes.slice(at, at + sliceSizes.removalBatch);
          removed += await subscriptions.removeOfEarlierPairs(
            project.ref,
            project.vapidPair,
            batch,
          );
          onProgress(removed);
        }
      }
      return removed;
    },
  };

  /** Does nothing if the keys have been dropped meanwhile. */
  async function dropKeys(projectId: string, publicKey: string): Promise<void> {
    try {
      await updateKeys(
        projectId,
        {
          UpdateExpression: 'REMOVE previousVapidPublicKey',
          ConditionExpression: 'previousVapidPublicKey = :key',
          ExpressionAttributeValues: { ':key': publicKey },
        },
        { UpdateExpression: 'REMOVE previousPrivateKey' },
      );
    } catch (error) {
      if (!conditionFailed(cancellationReasons(error)[0])) throw error;
    }
  }

  /** Changes the public keys of a project, and with them its private ones. */
  async function updateKeys(projectId: string, ofProject: Change, ofKeys: Change): Promise<void> {
    const update = (TableName: string, change: Change) => ({
      Update: { TableName, Key: { projectId }, ...change },
    });
    const TransactItems = [update(tables.projects, ofProject), update(tables.vapidKeys, ofKeys)];
    await dynamo.send(new TransactWriteCommand({ TransactItems }));
  }
}
