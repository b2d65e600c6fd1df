import { isDeepStrictEqual } from 'node:util';
import {
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import type { ProjectRef } from '../../contract/project.ts';
import type { Subscription } from '../../contract/schemas/subscription.ts';
import { attributeChanges } from './attribute-changes.ts';
import { giveBackUnits, subscriberCounter, type TakenUnits, takeUnit } from './counters.ts';
import { cancellationReasons, conditionFailed, isConditionFailure } from './dynamo.ts';
import type { SubscriptionItem } from './items.ts';
import {
  endpointHash,
  type KeyedProject,
  partOf,
  projectUser,
  storedChoice,
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

export type SubscriptionStore = ReturnType<typeof subscriptionStore>;

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
  tables: { readonly subscriptions: string; readonly usage: string },
  clock: () => Date,
) {
  /** Until when a project is full (epoch ms), by its reference and cap. */
  const full = new Map<string, number>();
  return {
    /**
     * Stores a subscription as given. A known endpoint is updated whatever the cap. A new one is added
     * and counted only below the cap.
     * @param cap most subscribers of the project; null for no limit.
     */
    async save(
      project: KeyedProject,
      subscription: SavedSubscription,
      cap: number | null,
      signal?: AbortSignal,
    ): Promise<'created' | 'updated' | 'cap_reached' | 'project_gone'> {
      const { ref } = project;
      const hash = endpointHash(project, subscription.endpoint.href);
      for (;;) {
        if (await update(ref, hash, subscription, signal)) return 'updated';
        const outcome = await create(ref, hash, subscription, cap, signal);
        // Another request has created it meanwhile: update it.
        if (outcome !== 'exists') return outcome;
      }
    },

    /**
     * Deletes up to `sliceSizes.removalBatch` subscriptions and their counts in one transaction. Missing
     * ones are ignored.
     * @returns how many existed.
     */
    removeBatch(
      project: ProjectRef,
      endpointHashes: readonly Uint8Array[],
      signal?: AbortSignal,
    ): Promise<number> {
      return remove(project, endpointHashes, { ConditionExpression: exists }, signal);
    },

    /** The same for subscriptions of one user. One that has passed to another user meanwhile is kept. */
    removeOfUser(
      project: ProjectRef,
      userId: string,
      endpointHashes: readonly Uint8Array[],
      signal?: AbortSignal,
    ): Promise<number> {
      const condition = {
        ConditionExpression: 'projectUser = :user',
        ExpressionAttributeValues: { ':user': projectUser(project, userId) },
      };
      return remove(project, endpointHashes, condition, signal);
    },

    /** The same for subscriptions with an earlier VAPID pair. One that was corrected meanwhile is kept. */
    removeOfEarlierPairs(
      project: ProjectRef,
      currentPair: number,
      endpointHashes: readonly Uint8Array[],
      signal?: AbortSignal,
    ): Promise<number> {
      const condition = {
        ConditionExpression: `${exists} AND (attribute_not_exists(vapidPairNumber) OR vapidPairNumber < :current)`,
        ExpressionAttributeValues: { ':current': currentPair },
      };
      return remove(project, endpointHashes, condition, signal);
    },

    /** The same for subscriptions that were updated before a time (epoch ms). One that was updated meanwhile is kept. */
    removeUnseen(
      project: ProjectRef,
      before: number,
      endpointHashes: readonly Uint8Array[],
      signal?: AbortSignal,
    ): Promise<number> {
      const condition = {
        ConditionExpression: 'updatedAt < :before',
        ExpressionAttributeValues: { ':before': before },
      };
      return remove(project, endpointHashes, condition, signal);
    },

    /** Stores which pair a subscription was made with, if it still exists. */
    async correctPair(
      project: ProjectRef,
      hash: Uint8Array,
      number: number,
      abortSignal?: AbortSignal,
    ): Promise<void> {
      const changed = { vapidPairNumber: storedPairNumber(number) };
      await change(project, hash, changed, exists, abortSignal);
    },
  };

  /**
   * A write that arrives late, after that of a newer request, changes nothing: its `updatedAt` is older.
   * @returns whether the subscription exists.
   */
  async function update(
    project: ProjectRef,
    hash: Uint8Array,
    { endpoint: { origin, path }, keys, vapidPairNumber, ...choice }: SavedSubscription,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const attributes = {
      origin,
      path,
      ...keys,
      ...storedChoice(project, choice),
      ...(vapidPairNumber !== undefined && { vapidPairNumber: storedPairNumber(vapidPairNumber) }),
    };
    for (let updatedAt = clock().getTime(); ; ) {
      const refusal = await change(
        project,
        hash,
        { ...attributes, updatedAt },
        'updatedAt < :updatedAt',
        signal,
      );
      if (refusal === undefined) return true;
      const { stored } = refusal;
      if (stored === undefined) return false;
      // The response to an earlier attempt was lost.
      if (hasAttributes(stored, attributes)) return true;
      // Two requests in one millisecond, or a function whose clock was ahead.
      updatedAt = stored.updatedAt + 1;
    }
  }

  /**
   * Sets attributes of a subscription, and removes undefined ones.
   * @returns undefined, or the subscription that does not meet the condition, if it exists.
   */
  async function change(
    project: ProjectRef,
    hash: Uint8Array,
    attributes: Partial<SubscriptionItem>,
    condition: string,
    abortSignal?: AbortSignal,
  ): Promise<{ readonly stored: SubscriptionItem | undefined } | undefined> {
    try {
      await dynamo.send(
        new UpdateCommand({
          TableName: tables.subscriptions,
          Key: subscriptionKey(project, hash),
          ConditionExpression: condition,
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          ...attributeChanges(attributes),
        }),
        { abortSignal },
      );
      return undefined;
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      return { stored: error.Item as SubscriptionItem | undefined };
    }
  }

  async function create(
    project: ProjectRef,
    hash: Uint8Array,
    {
      endpoint: { origin, path },
      keys,
      assumedPairNumber = 0,
      vapidPairNumber = assumedPairNumber,
      ...choice
    }: SavedSubscription,
    cap: number | null,
    abortSignal: AbortSignal | undefined,
  ) {
    const now = clock().getTime();
    const fullKey = `${project}#${cap}`;
    if (now < (full.get(fullKey) ?? 0)) return 'cap_reached';
    const item: SubscriptionItem = {
      ...subscriptionKey(project, hash),
      origin,
      path,
      ...keys,
      ...storedChoice(project, choice),
      vapidPairNumber: storedPairNumber(vapidPairNumber),
      createdAt: now,
      updatedAt: now,
    };
    const Put = {
      TableName: tables.subscriptions,
      Item: item,
      ConditionExpression: 'attribute_not_exists(endpointHash)',
    };
    const counter = subscriberCounter(tables.usage, project);
    const attempt = async (take: TakenUnits) => {
      try {
        const TransactItems = [{ Put }, { Update: take }];
        await dynamo.send(new TransactWriteCommand({ TransactItems }), { abortSignal });
        return 'created';
      } catch (error) {
        const [put, count] = cancellationReasons(error);
        if (conditionFailed(put)) return 'exists';
        if (conditionFailed(count)) return count?.Item === undefined ? 'project_gone' : 'part_full';
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

  /** Keeps a subscription that does not meet the condition. @returns how many existed and met it. */
  async function remove(
    project: ProjectRef,
    endpointHashes: readonly Uint8Array[],
    condition: Pick<UpdateCommandInput, 'ConditionExpression' | 'ExpressionAttributeValues'>,
    abortSignal: AbortSignal | undefined,
  ): Promise<number> {
    if (endpointHashes.length === 0) return 0;
    const deletions = endpointHashes.map((hash) => ({
      Delete: {
        TableName: tables.subscriptions,
        Key: subscriptionKey(project, hash),
        ...condition,
      },
    }));
    const TransactItems = [...deletions, ...decrements(project, endpointHashes)];
    try {
      await dynamo.send(new TransactWriteCommand({ TransactItems }), { abortSignal });
      return endpointHashes.length;
    } catch (error) {
      const reasons = cancellationReasons(error);
      if (!reasons.some(conditionFailed)) throw error;
      // Without the attribute the project is being deleted with its subscriptions.
      if (reasons.slice(endpointHashes.length).some(conditionFailed)) return 0;
      const remaining = endpointHashes.filter((_, index) => !conditionFailed(reasons[index]));
      return remove(project, remaining, condition, abortSignal);
    }
  }

  /** The part that a subscription was counted in may have been another one: only the sum matters. */
  function decrements(project: ProjectRef, endpointHashes: readonly Uint8Array[]) {
    const counter = subscriberCounter(tables.usage, project);
    const removed = new Map<number, number>();
    for (const hash of endpointHashes) {
      const part = partOf(hash);
      removed.set(part, (removed.get(part) ?? 0) + 1);
    }
    return [...removed].map(([part, number]) => ({ Update: giveBackUnits(counter, part, number) }));
  }
}

/** Whether a stored subscription already is as these attributes would make it. */
export function hasAttributes(
  stored: SubscriptionItem,
  attributes: Partial<SubscriptionItem>,
): boolean {
  const names = Object.keys(attributes) as (keyof SubscriptionItem)[];
  return names.every((name) => {
    const [one, other] = [stored[name], attributes[name]];
    return one instanceof Uint8Array && other instanceof Uint8Array
      ? Buffer.from(one).equals(other)
      : isDeepStrictEqual(one, other);
  });
}
