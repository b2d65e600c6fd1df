import { createHash } from 'node:crypto';
import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { utcMonth } from './calendar.ts';
import type { ProjectItem, SubscriberPartItem, UsageItem } from './items.ts';
import { partCount, partOf } from './subscription-keys.ts';

/**
 * A counter of a project, in parts: 8 items in Usage whose sum is the count. Transactions on one item
 * conflict, so one item carries only 50 to 100 of them per second.
 *
 * A cap is divided into shares, one for each part. No part takes more than its share, so the sum never
 * exceeds the cap, whatever runs at once. Units are given back to any part. A part may be negative: it
 * then has more room.
 */
export interface Counter {
  readonly table: string;
  readonly projectId: string;
  /** Its parts are stored under `name#0`, `name#1` and so on. */
  readonly name: string;
  /**
   * Whether the parts exist exactly as long as the project does, so that nothing can be taken without
   * it. Other parts are created by the first unit.
   */
  readonly existsWithProject: boolean;
}

const subscribersName = 'subscribers';

/** Counts the items in Subscriptions. */
export function subscriberCounter(table: string, projectId: string): Counter {
  return { table, projectId, name: subscribersName, existsWithProject: true };
}

/** Counts the notifications of a UTC month. */
export function monthCounter(table: string, projectId: string, time: Date): Counter {
  return { table, projectId, name: utcMonth(time), existsWithProject: false };
}

/** The part that counts a notification: the same for each repetition of its transaction. */
export function notificationPart(notificationId: string): number {
  return partOf(createHash('sha256').update(notificationId).digest());
}

/** The sort keys of a counter's parts. */
export function partPeriods(name: string): readonly string[] {
  return Array.from({ length: partCount }, (_, part) => `${name}#${part}`);
}

/** The part of a cap that one part of a counter may hold. All shares add up to the cap. */
export function shareOf(cap: number, part: number): number {
  return Math.floor((cap + partCount - 1 - part) / partCount);
}

/** The items of a counter whose units are divided evenly. */
export function newParts(
  { projectId, name }: Pick<Counter, 'projectId' | 'name'>,
  units = 0,
): readonly UsageItem[] {
  return partPeriods(name).map((period, part) => ({
    projectId,
    period,
    used: shareOf(units, part),
  }));
}

/** The subscriber counter of a new project: its items are created and deleted with the project. */
export function newSubscriberParts(
  { projectId, createdAt }: Pick<ProjectItem, 'projectId' | 'createdAt'>,
  subscribers = 0,
): readonly SubscriberPartItem[] {
  return newParts({ projectId, name: subscribersName }, subscribers).map((part) => ({
    ...part,
    createdAt,
  }));
}

/** What the parts of a counter hold; undefined for a part that does not exist. */
export type Parts = readonly (number | undefined)[];

export function sumOf(parts: Parts): number {
  return parts.reduce<number>((sum, used = 0) => sum + used, 0);
}

/** Reads the parts of a counter: one call, strongly consistent. */
export async function readParts(
  dynamo: DynamoDBDocumentClient,
  { table, projectId, name }: Counter,
  abortSignal?: AbortSignal,
): Promise<Parts> {
  const { Items = [] } = await dynamo.send(
    new QueryCommand({
      TableName: table,
      KeyConditionExpression: 'projectId = :projectId AND begins_with(period, :prefix)',
      ExpressionAttributeValues: { ':projectId': projectId, ':prefix': `${name}#` },
      ConsistentRead: true,
    }),
    { abortSignal },
  );
  const used = new Map((Items as Partial<UsageItem>[]).map((item) => [item.period, item.used]));
  return partPeriods(name).map((period) => used.get(period));
}

/** How many more units each part may hold. */
export function roomIn(parts: Parts, cap: number | null): readonly number[] {
  return parts.map((used = 0, part) =>
    cap === null ? Number.POSITIVE_INFINITY : Math.max(0, shareOf(cap, part) - used),
  );
}

/**
 * The update of a transaction that takes units. Its condition fails if the part has no room for them,
 * or if it does not exist and has to. The failed item tells which: see {@link isClosed}.
 */
export function takeUnits(counter: Counter, part: number, units: number, cap: number | null) {
  const room = cap === null ? undefined : shareOf(cap, part) - units;
  return {
    ...keyOf(counter, part),
    UpdateExpression: 'ADD used :taken',
    ConditionExpression: takeCondition(counter, room),
    ExpressionAttributeValues: { ':taken': units, ':room': room },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
}

/** The update that takes units. */
export type TakenUnits = ReturnType<typeof takeUnits>;

/** A comparison with a missing attribute is false. */
function takeCondition({ existsWithProject }: Counter, room: number | undefined) {
  if (existsWithProject) return room === undefined ? 'attribute_exists(used)' : 'used <= :room';
  if (room === undefined) return undefined;
  // A cap below the number of parts leaves some without a share.
  return room < 0 ? 'used <= :room' : 'attribute_not_exists(used) OR used <= :room';
}

/** The update of a transaction that gives units back. */
export function giveBackUnits(counter: Counter, part: number, units: number) {
  return {
    ...keyOf(counter, part),
    UpdateExpression: 'ADD used :givenBack',
    ConditionExpression: counter.existsWithProject ? 'attribute_exists(used)' : undefined,
    ExpressionAttributeValues: { ':givenBack': -units },
  };
}

/**
 * The check of a transaction that a project exists, in one part of its subscriber counter. Checks of the
 * same item conflict, as writes do: checks of the project's own item would allow 50 to 100 per second.
 * @param createdAt tells the project from another one of the same id.
 */
export function partExists(counter: Counter, part: number, createdAt: string) {
  return {
    ...keyOf(counter, part),
    // A closed part keeps `createdAt`.
    ConditionExpression: 'attribute_exists(used) AND createdAt = :createdAt',
    ExpressionAttributeValues: { ':createdAt': createdAt },
  };
}

function keyOf({ table, projectId, name }: Counter, part: number) {
  return { TableName: table, Key: { projectId, period: partPeriods(name)[part]! } };
}

/** Whether the project of a subscriber counter is gone. @param item the part that refused a unit. */
export function isClosed(item: Record<string, unknown> | undefined): boolean {
  return item?.used === undefined;
}

/**
 * Takes one unit, in the preferred part or else in the next one with room.
 * @param attempt makes the transaction with this update; `part_full` if only the update's condition failed.
 * @returns what `attempt` returned last, or `cap_reached` if all parts are full.
 */
export async function takeUnit<Outcome>(
  dynamo: DynamoDBDocumentClient,
  counter: Counter,
  cap: number | null,
  preferredPart: number,
  attempt: (take: TakenUnits) => Promise<Outcome | 'part_full'>,
  signal?: AbortSignal,
): Promise<Outcome | 'cap_reached'> {
  let part = preferredPart;
  for (let isFull = false; ; ) {
    const outcome = await attempt(takeUnits(counter, part, 1, cap));
    if (outcome !== 'part_full') return outcome;
    if (isFull) return 'cap_reached';
    const room = roomIn(await readParts(dynamo, counter, signal), cap);
    // Not the one with the most room: there, all that run at once would meet.
    const found = fromPart(preferredPart).find((one) => room[one]! > 0);
    // The last attempt tells whether it is refused for another reason too, such as a repetition.
    isFull = found === undefined;
    part = found ?? preferredPart;
  }
}

/** All parts, beginning with this one. */
export function fromPart(first: number): readonly number[] {
  return Array.from({ length: partCount }, (_, index) => (first + index) % partCount);
}
