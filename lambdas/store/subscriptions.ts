import {
  type DynamoDBDocumentClient,
  GetCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { ServiceError } from '../../contract/wire/errors.ts';
import { hasChosen, renewable, type StatedChoice } from '../../contract/wire/fields.ts';
import { limits } from '../../contract/wire/limits.ts';
import type { ProjectRef } from '../../contract/wire/project.ts';
import type { Subscription } from '../../contract/wire/subscription.ts';
import {
  anyPart,
  drawPart,
  giveBackUnits,
  isClosed,
  type ReadCap,
  subscriberCounter,
  type TakenUnits,
  takeUnit,
} from './counters.ts';
import {
  attributeChanges,
  batchGet,
  cancellationReasons,
  conditionFailed,
  drawnTransaction,
  expressionValues,
  isConditionFailure,
} from './dynamo.ts';
import {
  type ErasureItem,
  endpointHash,
  erasureKey,
  expiryAfterHours,
  handedOn,
  type KeyedProject,
  projectUser,
  type SubscriptionItem,
  storedChoice,
  storedPairNumber,
  subscriptionKey,
} from './items.ts';

/** A subscription as its store takes it. */
export interface SavedSubscription extends Subscription {
  readonly choice: StatedChoice;
  /** Whether what the choice leaves out, and the consent, stay as stored, and an erased browser stays away. */
  readonly isRenewal?: boolean | undefined;
  /** The endpoint that the browser had before. It is removed if this one is new. */
  readonly replaces?: string | undefined;
  /** When the request began: epoch ms. Default: now. */
  readonly requestedAt?: number | undefined;
  /** Number of the VAPID pair that it was made with, if the request names its key. */
  readonly vapidPairNumber?: number | undefined;
  /**
   * Number of the pair that a new subscription is stored with if `vapidPairNumber` is absent. A known endpoint then
   * keeps its pair, because a push service never changes that. Default: 0.
   */
  readonly assumedPairNumber?: number | undefined;
}

type Requested = SavedSubscription & { readonly requestedAt: number };

export type SubscriptionStore = ReturnType<typeof subscriptionStore>;

/**
 * Milliseconds for which a store refuses new endpoints of a project whose counter it has found full, without asking
 * again: a refusal would otherwise cost more than a subscription.
 */
const fullMs = 5000;
/** Full projects that a store remembers. */
const fullCapacity = 1000;

/** What a stored subscription must meet to be changed. Values by their names without the colon. */
interface Condition {
  readonly expression: string;
  readonly values?: Readonly<Record<string, unknown>>;
}

/**
 * Changes one subscription for its browser. Requests that name the same endpoint conflict if they come at once: then their
 * caller makes too many, and no fault of the service is reported. Only the counter, the second item, is nobody's.
 */
async function oneAtATime<Result>(change: () => Promise<Result>): Promise<Result> {
  try {
    return await change();
  } catch (error) {
    const { cause } = error as Error;
    const isBusy =
      (cause as Error | undefined)?.name === 'TransactionConflictException' ||
      cancellationReasons(cause).some(
        ({ Code }, item) => item !== 1 && Code === 'TransactionConflict',
      );
    if (!isBusy) throw error;
    throw new ServiceError(
      'rate_limited',
      'Too many requests for this endpoint came at once; try again in a second.',
      { retryAfterSeconds: 1 },
    );
  }
}

const exists: Condition = { expression: 'attribute_exists(endpointHash)' };
const isAbsent = 'attribute_not_exists(endpointHash)';

/** A transaction has at most 100 items: each subscription and its hash, and the count. */
export const erasureBatch = 49;
/** A browser that nobody has used for longer is not renewed either: push services end such subscriptions. */
const erasureHours = limits.erasureDays * 24;

/**
 * Whether a subscription uses a pair before the current one, whose number is `:current`. The first pair has the number 0,
 * which is not stored; one that was added before it has -1.
 */
export function earlierPair(currentPair: number): string {
  return currentPair === 0
    ? 'vapidPairNumber < :current'
    : '(attribute_not_exists(vapidPairNumber) OR vapidPairNumber < :current)';
}

/** What the operator removes by hand: subscriptions for which all that is given holds. */
export interface Unwanted {
  /** Epoch ms, as the other times. */
  readonly updatedBefore?: number | undefined;
  /** Created at this time or later. */
  readonly createdAfter?: number | undefined;
  readonly createdBefore?: number | undefined;
  /** Reported as gone before this time, and kept. */
  readonly goneBefore?: number | undefined;
  /** Of the endpoint. */
  readonly origin?: string | undefined;
}

const unwantedExpressions: Readonly<Record<keyof Unwanted, string>> = {
  updatedBefore: 'updatedAt < :updatedBefore',
  createdAfter: 'createdAt >= :createdAfter',
  createdBefore: 'createdAt < :createdBefore',
  goneBefore: 'goneSince < :goneBefore',
  origin: 'origin = :origin',
};

/** @param unwanted at least one member. */
export function unwantedCondition(unwanted: Unwanted): Required<Condition> {
  const given = Object.entries(unwanted).filter(([, value]) => value !== undefined);
  const expressions = given.map(([name]) => unwantedExpressions[name as keyof Unwanted]);
  return { expression: expressions.join(' AND '), values: Object.fromEntries(given) };
}

/**
 * A stored time that is this much later than now is that of a wrong clock, not of a later request. A write of a function
 * for browsers is under way for less.
 */
const wrongClockMs = 60_000;

/**
 * Changes each subscription and a counter in one transaction, so that they always agree.
 * @param random draws the part of the counter: from 0 to before 1.
 */
export function subscriptionStore(
  dynamo: DynamoDBDocumentClient,
  tables: { readonly subscriptions: string; readonly usage: string },
  clock: () => Date,
  random: () => number = Math.random,
) {
  const choose = drawPart(random);
  /** Until when a project is full (epoch ms), by its reference and cap. */
  const full = new Map<string, number>();
  return {
    /**
     * Stores a subscription as given, unless a request that began later has stored it. A known endpoint is updated
     * whatever the cap. A new one is added and counted only below the cap, or in place of the browser's earlier one, which
     * hands on what is carried along. A renewal adds none that was erased, nor one in place of it; any other request ends
     * the erasure.
     * @param cap most subscribers of the project; null for no limit.
     * @param readCap if another function may know a newer cap.
     */
    async save(
      project: KeyedProject,
      { requestedAt = clock().getTime(), ...given }: SavedSubscription,
      cap: number | null,
      signal?: AbortSignal,
      readCap?: ReadCap,
    ): Promise<'created' | 'updated' | 'erased' | 'cap_reached' | 'project_gone'> {
      const { ref } = project;
      const subscription = { ...given, requestedAt };
      const hash = endpointHash(project, given.endpoint.href);
      const hashes = distinct([hash, endpointHash(project, given.replaces ?? given.endpoint.href)]);
      const [, earlierHash] = hashes;
      return oneAtATime(async () => {
        for (;;) {
          if (await update(ref, hash, subscription, signal)) return 'updated';
          const earlier = earlierHash && (await findEarlier(ref, earlierHash, requestedAt, signal));
          const outcome = await (earlier
            ? replace(ref, hashes, earlier, subscription, signal)
            : add(ref, hashes, subscription, cap, signal, readCap));
          const isRefused = outcome === 'cap_reached' && given.isRenewal;
          if (isRefused && (await isErased(ref, hashes, signal))) return 'erased';
          // Another request has created it, or changed the earlier one, meanwhile.
          if (outcome !== 'changed') return outcome;
        }
      });
    },

    /**
     * Removes the subscription of a browser and its count, unless a request that began later has stored it. An unknown
     * endpoint costs one read: a transaction would lock the counter.
     * @param requestedAt when the request began: epoch ms.
     */
    async unsubscribe(
      project: KeyedProject,
      endpoint: string,
      requestedAt: number,
      signal?: AbortSignal,
    ): Promise<void> {
      const hash = endpointHash(project, endpoint);
      const { Item } = await dynamo.send(
        new GetCommand({
          TableName: tables.subscriptions,
          Key: subscriptionKey(project.ref, hash),
          ProjectionExpression: 'updatedAt',
          ConsistentRead: true,
        }),
        { abortSignal: signal },
      );
      if (Item === undefined) return;
      await oneAtATime(() => remove(project.ref, [hash], isEarlier(requestedAt), signal));
    },

    /**
     * Deletes up to `sliceSizes.removalBatch` subscriptions and their counts in one transaction. Missing ones and
     * repetitions are ignored.
     * @returns how many existed.
     */
    removeBatch(
      project: ProjectRef,
      endpointHashes: readonly Uint8Array[],
      signal?: AbortSignal,
    ): Promise<number> {
      return remove(project, endpointHashes, exists, signal);
    },

    /**
     * Erases up to {@link erasureBatch} subscriptions, and leaves a hash of the endpoint of each.
     * @param userId One that has passed to another user meanwhile is kept. Undefined: whoever's it is.
     */
    erase(
      project: ProjectRef,
      userId: string | undefined,
      endpointHashes: readonly Uint8Array[],
      signal?: AbortSignal,
    ): Promise<number> {
      const ofUser = (id: string) => ({
        expression: 'projectUser = :user',
        values: { user: projectUser(project, id) },
      });
      const condition = userId === undefined ? exists : ofUser(userId);
      return remove(project, endpointHashes, condition, signal, true);
    },

    /** Deletes subscriptions with an earlier VAPID pair. One that was corrected meanwhile is kept. */
    removeOfEarlierPairs(
      project: ProjectRef,
      currentPair: number,
      endpointHashes: readonly Uint8Array[],
      signal?: AbortSignal,
    ): Promise<number> {
      const condition = {
        expression: `${exists.expression} AND ${earlierPair(currentPair)}`,
        values: { current: currentPair },
      };
      return remove(project, endpointHashes, condition, signal);
    },

    /** Deletes those of these subscriptions that are unwanted now: one that was updated meanwhile may be wanted. */
    removeUnwanted(
      project: ProjectRef,
      unwanted: Unwanted,
      endpointHashes: readonly Uint8Array[],
      signal?: AbortSignal,
    ): Promise<number> {
      return remove(project, endpointHashes, unwantedCondition(unwanted), signal);
    },

    /** Stores since when subscriptions were reported as gone, if they still exist; undefined: they are not. */
    async mark(
      project: ProjectRef,
      marks: readonly (readonly [endpointHash: Uint8Array, goneSince: number | undefined])[],
      abortSignal?: AbortSignal,
    ): Promise<void> {
      await Promise.all(
        marks.map(([hash, goneSince]) => change(project, hash, { goneSince }, exists, abortSignal)),
      );
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

  async function isErased(
    project: ProjectRef,
    hashes: readonly Uint8Array[],
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const keys = hashes.map((hash) => erasureKey(project, hash));
    return (await batchGet(dynamo, tables.subscriptions, keys, signal)).length > 0;
  }

  /** A stored time after this one is that of a wrong clock: epoch ms. */
  function latestTime(): number {
    return clock().getTime() + wrongClockMs;
  }

  /** Whether a subscription was stored by a request that began before this one, or at the same time. */
  function isEarlier(requestedAt: number): Condition {
    return {
      expression: '(updatedAt <= :requestedAt OR updatedAt > :latest)',
      values: { requestedAt, latest: latestTime() },
    };
  }

  /**
   * A request that chooses nothing clears what the visitor can choose, but keeps imported choices: its browser has not
   * chosen yet. A renewal changes only what it states. Any choice ends the import.
   * @returns whether the subscription exists.
   */
  async function update(
    project: ProjectRef,
    hash: Uint8Array,
    request: Requested,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const { endpoint, keys, isRenewal, vapidPairNumber, requestedAt } = request;
    const { origin, path } = endpoint;
    const choice = isRenewal ? renewable(request.choice) : request.choice;
    const others = {
      origin,
      path,
      ...keys,
      ...storedChoice(project, choice, true),
      updatedAt: requestedAt,
      goneSince: undefined,
      ...(vapidPairNumber !== undefined && { vapidPairNumber: storedPairNumber(vapidPairNumber) }),
    };
    const all = { ...others, ...storedChoice(project, choice, isRenewal), imported: undefined };
    const earlier = isEarlier(requestedAt);
    if (hasChosen(choice)) return setChosen(project, hash, all, earlier, requestedAt, signal);
    if (isRenewal) return (await change(project, hash, others, earlier, signal)) !== 'absent';
    const [own, imported] = ['attribute_not_exists', 'attribute_exists'].map((has) => ({
      ...earlier,
      expression: `${earlier.expression} AND ${has}(imported)`,
    }));
    for (;;) {
      const found = await change(project, hash, { ...all, userSince: undefined }, own!, signal);
      if (typeof found === 'string') return found === 'changed';
      // Otherwise a later request has stored it.
      if (!found.imported) return true;
      const kept = await change(project, hash, others, imported!, signal);
      if (typeof kept === 'string') return kept === 'changed';
      if (kept.imported) return true;
    }
  }

  /** Sets these attributes. It keeps since when it has its user, unless that is another one. */
  async function setChosen(
    project: ProjectRef,
    hash: Uint8Array,
    attributes: Partial<SubscriptionItem>,
    earlier: Condition,
    requestedAt: number,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const { projectUser: user } = attributes;
    if (user !== undefined) {
      const same = {
        expression: `${earlier.expression} AND projectUser = :user`,
        values: { ...earlier.values, user },
      };
      const found = await change(project, hash, attributes, same, signal);
      if (typeof found === 'string') return found === 'changed';
      // A later request has stored it.
      if (found.projectUser === user) return true;
    }
    // A renewal that says nothing of users leaves both.
    const since = 'projectUser' in attributes && {
      userSince: user === undefined ? undefined : requestedAt,
    };
    const found = await change(project, hash, { ...attributes, ...since }, earlier, signal);
    return found !== 'absent';
  }

  /**
   * Sets attributes of a subscription that meets the condition, and removes undefined ones.
   * @returns the subscription if it does not meet the condition.
   */
  async function change(
    project: ProjectRef,
    hash: Uint8Array,
    attributes: Partial<SubscriptionItem>,
    { expression, values: conditionValues }: Condition,
    abortSignal?: AbortSignal,
  ): Promise<'changed' | 'absent' | SubscriptionItem> {
    try {
      await dynamo.send(
        new UpdateCommand({
          TableName: tables.subscriptions,
          Key: subscriptionKey(project, hash),
          ConditionExpression: expression,
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          ...attributeChanges(attributes, { conditionValues }),
        }),
        { abortSignal },
      );
      return 'changed';
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      return (error.Item as SubscriptionItem | undefined) ?? 'absent';
    }
  }

  /** The subscription with the endpoint that the browser had before, unless a later request has stored it. */
  async function findEarlier(
    project: ProjectRef,
    hash: Uint8Array,
    requestedAt: number,
    signal: AbortSignal | undefined,
  ): Promise<SubscriptionItem | undefined> {
    const keys = [subscriptionKey(project, hash)];
    const [found] = await batchGet<SubscriptionItem>(dynamo, tables.subscriptions, keys, signal);
    const isLater = (at: number) => at > requestedAt && at <= latestTime();
    return found && !isLater(found.updatedAt) ? found : undefined;
  }

  /** Adds a subscription, and counts it. @param hashes of its endpoint, and of the one before. */
  async function add(
    project: ProjectRef,
    hashes: readonly Uint8Array[],
    subscription: Requested,
    cap: number | null,
    abortSignal: AbortSignal | undefined,
    readCap: ReadCap | undefined,
  ) {
    const now = clock().getTime();
    const fullKey = `${project}#${cap}`;
    if (now < (full.get(fullKey) ?? 0)) return 'cap_reached';
    const counter = subscriberCounter(tables.usage, project);
    const attempt = async (take: () => TakenUnits) => {
      const outcome = await put(project, hashes, subscription, take, [], abortSignal);
      return outcome === 'uncounted' ? 'part_full' : outcome;
    };
    const taking = takeUnit(dynamo, counter, cap, choose, attempt, now, abortSignal, readCap);
    const outcome = await taking;
    if (outcome === 'closed') throw beingCounted();
    if (outcome === 'cap_reached') {
      if (full.size === fullCapacity) full.clear();
      full.set(fullKey, now + fullMs);
    }
    return outcome;
  }

  /** Puts a subscription in the place of the browser's earlier one: their number stays the same. */
  async function replace(
    project: ProjectRef,
    hashes: readonly Uint8Array[],
    earlier: SubscriptionItem,
    { choice, ...subscription }: Requested,
    abortSignal: AbortSignal | undefined,
  ) {
    const counter = subscriberCounter(tables.usage, project);
    const given = { ...subscription, choice: subscription.isRenewal ? renewable(choice) : choice };
    // While the subscribers are counted, one of both partitions may have been read.
    const isOpen = () => giveBackUnits(counter, anyPart(counter, choose), 0);
    const { expression, values = {} } = isEarlier(subscription.requestedAt);
    const removal = {
      Delete: {
        TableName: tables.subscriptions,
        Key: { projectPart: earlier.projectPart, endpointHash: earlier.endpointHash },
        ConditionExpression: expression,
        ExpressionAttributeValues: expressionValues(values),
      },
    };
    const outcome = await put(
      project,
      hashes,
      given,
      isOpen,
      [removal],
      abortSignal,
      handedOn(earlier),
    );
    if (outcome === 'uncounted') throw beingCounted();
    return outcome;
  }

  /**
   * @param count changes the counter, unless that is closed or full.
   * @param removals of what it takes the place of.
   * @param inherited what is stored if the request does not state it.
   */
  async function put(
    project: ProjectRef,
    hashes: readonly Uint8Array[],
    {
      endpoint: { origin, path },
      keys,
      choice,
      isRenewal,
      assumedPairNumber = 0,
      vapidPairNumber = assumedPairNumber,
      requestedAt,
    }: Requested,
    count: () => TakenUnits | ReturnType<typeof giveBackUnits>,
    removals: NonNullable<TransactWriteCommandInput['TransactItems']>,
    abortSignal: AbortSignal | undefined,
    inherited?: Partial<SubscriptionItem>,
  ): Promise<'created' | 'changed' | 'erased' | 'project_gone' | 'uncounted'> {
    const [hash] = hashes;
    const chosen = storedChoice(project, choice);
    const item: SubscriptionItem = {
      ...subscriptionKey(project, hash!),
      origin,
      path,
      ...keys,
      ...inherited,
      ...chosen,
      ...(chosen.projectUser !== undefined && { userSince: requestedAt }),
      vapidPairNumber: storedPairNumber(vapidPairNumber),
      createdAt: requestedAt,
      updatedAt: requestedAt,
    };
    const Put = {
      TableName: tables.subscriptions,
      Item: item,
      ConditionExpression: isAbsent,
    };
    const erasureOf = (one: Uint8Array) => ({
      TableName: tables.subscriptions,
      Key: erasureKey(project, one),
    });
    const erasures = isRenewal
      ? hashes.map((one) => ({
          ConditionCheck: { ...erasureOf(one), ConditionExpression: isAbsent },
        }))
      : [{ Delete: erasureOf(hash!) }];
    try {
      const transaction = drawnTransaction(() => [
        { Put },
        { Update: count() },
        ...erasures,
        ...removals,
      ]);
      await dynamo.send(transaction, { abortSignal });
      return 'created';
    } catch (error) {
      const [added, counted, ...others] = cancellationReasons(error);
      if (conditionFailed(added)) return 'changed';
      if (others.slice(0, erasures.length).some(conditionFailed)) return 'erased';
      if (others.some(conditionFailed)) return 'changed';
      if (conditionFailed(counted)) return counted?.Item ? 'uncounted' : 'project_gone';
      throw error;
    }
  }

  /**
   * Keeps a subscription that does not meet the condition.
   * @param isErasure whether it leaves the hashes.
   * @returns how many existed and met it.
   */
  async function remove(
    project: ProjectRef,
    endpointHashes: readonly Uint8Array[],
    { expression: ConditionExpression, values }: Condition,
    abortSignal: AbortSignal | undefined,
    isErasure = false,
  ): Promise<number> {
    const condition = {
      ConditionExpression,
      ExpressionAttributeValues: values && expressionValues(values),
    };
    // DynamoDB refuses a transaction that has an item twice.
    let hashes = distinct(endpointHashes);
    const expiresAt = expiryAfterHours(clock(), erasureHours);
    while (hashes.length > 0) {
      const deletions = hashes.map((hash) => ({
        Delete: {
          TableName: tables.subscriptions,
          Key: subscriptionKey(project, hash),
          ...condition,
        },
      }));
      const erasures = (isErasure ? hashes : []).map((hash) => {
        const Item: ErasureItem = { ...erasureKey(project, hash), expiresAt };
        return { Put: { TableName: tables.subscriptions, Item } };
      });
      const counter = subscriberCounter(tables.usage, project);
      // Not necessarily to the part that counted them: only the sum matters.
      const giveBack = () => giveBackUnits(counter, anyPart(counter, choose), hashes.length);
      try {
        const transaction = drawnTransaction(() => [
          ...deletions,
          { Update: giveBack() },
          ...erasures,
        ]);
        await dynamo.send(transaction, { abortSignal });
        break;
      } catch (error) {
        const reasons = cancellationReasons(error);
        if (!reasons.some(conditionFailed)) throw error;
        const count = reasons[hashes.length];
        // Without the attribute the project is being deleted with its subscriptions.
        if (conditionFailed(count) && count?.Item === undefined) return 0;
        if (
          conditionFailed(count) &&
          (await isClosed(dynamo, counter, clock().getTime(), abortSignal))
        ) {
          throw beingCounted();
        }
        hashes = hashes.filter((_, index) => !conditionFailed(reasons[index]));
      }
    }
    return hashes.length;
  }
}

function distinct(hashes: readonly Uint8Array[]): readonly Uint8Array[] {
  return [...new Map(hashes.map((hash) => [Buffer.from(hash).toString('hex'), hash])).values()];
}

/** The operator counts a project's subscribers again, which takes some seconds. */
export function beingCounted(): ServiceError {
  return new ServiceError(
    'unavailable',
    'The subscribers of this project are being counted. Try again in some seconds.',
    { retryAfterSeconds: 5 },
  );
}
