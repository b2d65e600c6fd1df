import {
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { Subscription } from '../../contract/schemas/subscription.ts';
import { attributeChanges } from './attribute-changes.ts';
import { isClosed, subscriberCounter, type TakenUnits, takeUnit } from './counters.ts';
import { cancellationReasons, conditionFailed, isConditionFailure } from './dynamo.ts';
import type { SubscriptionItem } from './items.ts';
import { removeSubscriptions } from './remove-subscriptions.ts';
import {
  endpointHash,
  partOf,
  projectUser,
  type SubscriptionTables,
  storedChannels,
  storedPairNumber,
  subscriptionKey,
} from './subscription-keys.ts';

/** A subscription as its store takes it. */
export interface SavedSubscription extends Omit<Subscription, 'applicationServerKey'> {
  /** Number of the VAPID pair that it was made with, if the request names its key. */
  readonly vapidPairNumber?: number | undefined;
  /**
   * Number of the pair that a new subscription is stored with if `vapidPairNumber` is absent. A known endpoint then
   * keeps its pair, because a push service never changes that. Default: 0.
   */
  readonly assumedPairNumber?: number | undefined;
}

export interface SubscriptionStore {
  /**
   * Stores a subscription as given. A known endpoint is updated whatever the cap. A new one is added
   * and counted only below the cap.
   * @param cap most subscribers of the project; null for no limit.
   */
  save(
    projectId: string,
    subscription: SavedSubscription,
    cap: number | null,
    signal?: AbortSignal,
  ): Promise<'created' | 'updated' | 'cap_reached' | 'project_gone'>;

  /** Deletes a subscription and its count, if it exists. @param href the endpoint. */
  remove(projectId: string, href: string, signal?: AbortSignal): Promise<'removed' | 'absent'>;

  /**
   * Deletes up to `shareSizes.removalBatch` subscriptions and their counts in one transaction. Missing
   * ones are ignored.
   * @returns how many existed.
   */
  removeBatch(
    projectId: string,
    endpointHashes: readonly Uint8Array[],
    signal?: AbortSignal,
  ): Promise<number>;

  /** The same for subscriptions of one user. One that has passed to another user meanwhile is kept. */
  removeOfUser(
    projectId: string,
    userId: string,
    endpointHashes: readonly Uint8Array[],
    signal?: AbortSignal,
  ): Promise<number>;

  /** Stores which pair a subscription was made with, if it still exists. */
  correctPair(
    projectId: string,
    endpointHash: Uint8Array,
    vapidPairNumber: number,
    signal?: AbortSignal,
  ): Promise<void>;
}

/**
 * Milliseconds for which a store refuses new endpoints of a project whose counter it has found full, without asking
 * again: a refusal would otherwise cost more than a subscription.
 */
const fullMs = 5000;
/** Full projects that a store remembers. */
const fullCapacity = 1000;

/** The condition that a subscription is stored. */
const exists = 'attribute_exists(endpointHash)';

/** Changes each subscription and a counter in one transaction, so that they always agree. */
export function subscriptionStore(
  dynamo: DynamoDBDocumentClient,
  tables: SubscriptionTables,
  clock: () => Date,
): SubscriptionStore {
  /** Until when a project is full (epoch ms), by its id and cap. */
  const full = new Map<string, number>();
  const store: SubscriptionStore = {
    async save(projectId, subscription, cap, signal) {
      const hash = endpointHash(subscription.endpoint.href);
      for (;;) {
        if (await update(projectId, hash, subscription, signal)) return 'updated';
        const outcome = await create(projectId, hash, subscription, cap, signal);
        // Another request has created it meanwhile: update it.
        if (outcome !== 'exists') return outcome;
      }
    },

    async remove(projectId, href, signal) {
      const removed = await store.removeBatch(projectId, [endpointHash(href)], signal);
      return removed === 1 ? 'removed' : 'absent';
    },

    removeBatch(projectId, endpointHashes, signal) {
      return removeSubscriptions(
        dynamo,
        tables,
        { ConditionExpression: exists },
        projectId,
        endpointHashes,
        signal,
      );
    },

    removeOfUser(projectId, userId, endpointHashes, signal) {
      const condition = {
        ConditionExpression: 'projectUser = :user',
        ExpressionAttributeValues: { ':user': projectUser(projectId, userId) },
      };
      return removeSubscriptions(dynamo, tables, condition, projectId, endpointHashes, signal);
    },

    async correctPair(projectId, hash, number, abortSignal) {
      const changed = { vapidPairNumber: storedPairNumber(number) };
      await change(projectId, hash, changed, abortSignal);
    },
  };
  return store;

  function update(
    projectId: string,
    hash: Uint8Array,
    { endpoint: { origin, path }, keys, userId, channels, vapidPairNumber }: SavedSubscription,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const attributes = {
      origin,
      path,
      ...keys,
      updatedAt: clock().getTime(),
      projectUser: userId === undefined ? undefined : projectUser(projectId, userId),
      channels: storedChannels(channels),
      ...(vapidPairNumber !== undefined && { vapidPairNumber: storedPairNumber(vapidPairNumber) }),
    };
    return change(projectId, hash, attributes, signal);
  }

  /**
   * Sets attributes of a subscription, and removes undefined ones.
   * @returns whether it exists.
   */
  async function change(
    projectId: string,
    hash: Uint8Array,
    attributes: Partial<SubscriptionItem>,
    abortSignal?: AbortSignal,
  ): Promise<boolean> {
    try {
      await dynamo.send(
        new UpdateCommand({
          TableName: tables.subscriptions,
          Key: subscriptionKey(projectId, hash),
          ConditionExpression: exists,
          ...attributeChanges(attributes),
        }),
        { abortSignal },
      );
      return true;
    } catch (error) {
      if (isConditionFailure(error)) return false;
      throw error;
    }
  }

  async function create(
    projectId: string,
    hash: Uint8Array,
    {
      endpoint: { origin, path },
      keys,
      userId,
      channels,
      assumedPairNumber = 0,
      vapidPairNumber = assumedPairNumber,
    }: SavedSubscription,
    cap: number | null,
    abortSignal: AbortSignal | undefined,
  ) {
    const now = clock().getTime();
    const fullKey = `${projectId}#${cap}`;
    if (now < (full.get(fullKey) ?? 0)) return 'cap_reached';
    const item: SubscriptionItem = {
      ...subscriptionKey(projectId, hash),
      origin,
      path,
      ...keys,
      ...(userId === undefined ? {} : { projectUser: projectUser(projectId, userId) }),
      channels: storedChannels(channels),
      vapidPairNumber: storedPairNumber(vapidPairNumber),
      createdAt: now,
      updatedAt: now,
    };
    const Put = {
      TableName: tables.subscriptions,
      Item: item,
      ConditionExpression: 'attribute_not_exists(endpointHash)',
    };
    const counter = subscriberCounter(tables.usage, projectId);
    const attempt = async (take: TakenUnits) => {
      try {
        const TransactItems = [{ Put }, { Update: take }];
        await dynamo.send(new TransactWriteCommand({ TransactItems }), { abortSignal });
        return 'created';
      } catch (error) {
        const [put, count] = cancellationReasons(error);
        if (conditionFailed(put)) return 'exists';
        if (conditionFailed(count))
          return isClosed(counter, count?.Item) ? 'project_gone' : 'part_full';
        throw error;
      }
    };
    const outcome = await takeUnit(dynamo, counter, cap, partOf(hash), attempt, abortSignal);
    if (outcome === 'cap_reached') {
      if (full.size === fullCapacity) full.clear();
      full.set(fullKey, now + fullMs);
    }
    return outcome;
  }
}
