import { createHash } from 'node:crypto';
import {
  type DynamoDBDocumentClient,
  QueryCommand,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import type { ProjectRef } from '../../contract/project.ts';
import { utcMonth } from './calendar.ts';
import { cancellationReasons, conditionFailed } from './dynamo.ts';
import type { UsageItem } from './items.ts';
import { partCount, partOf } from './subscription-keys.ts';

/**
 * A counter of a project, in parts: 8 items in Usage whose sum is the count. Transactions on one item
 * conflict, so one item carries only 50 to 100 of them per second.
 *
 * A cap is divided into shares, one for each part. No part takes more than its share, so the sum never
 * exceeds the cap, whatever runs at once. Units are given back to any part. A part may be negative: it
 * then has more room.
 *
 * All parts are created at once while the project exists, and deleted with it. Nothing is counted in a part
 * that does not exist.
 */
export interface Counter {
  readonly table: string;
  readonly project: ProjectRef;
  /** Its parts are stored under `name#0`, `name#1` and so on. */
  readonly name: string;
}

const subscribersName = 'subscribers';

/** Counts the items in Subscriptions. */
export function subscriberCounter(table: string, project: ProjectRef): Counter {
  return { table, project, name: subscribersName };
}

/** Counts the notifications of a UTC month. The month's first send creates it. */
export function monthCounter(table: string, project: ProjectRef, time: Date): Counter {
  return { table, project, name: utcMonth(time) };
}

/** The part that counts a notification: the same for each repetition of its transaction. */
export function notificationPart(notificationId: string): number {
  return partOf(createHash('sha256').update(notificationId).digest());
}

/** The sort keys of a counter's parts. */
export function partPeriods(name: string): readonly string[] {
  return Array.from({ length: partCount }, (_, part) => `${name}#${part}`);
}

/** The keys of the parts of a project's counter: of its subscribers, or of a month. */
export function partKeys(project: ProjectRef, name = subscribersName) {
  return partPeriods(name).map((period) => ({ projectRef: project, period }));
}

/** The part of a cap that one part of a counter may hold. All shares add up to the cap. */
export function shareOf(cap: number, part: number): number {
  return Math.floor((cap + partCount - 1 - part) / partCount);
}

/** The items of a counter whose units are divided evenly. */
export function newParts(
  { name, project }: Pick<Counter, 'name' | 'project'>,
  units = 0,
): readonly UsageItem[] {
  return partPeriods(name).map((period, part) => ({
    projectRef: project,
    period,
    used: shareOf(units, part),
  }));
}

/** The subscriber counter of a new project: created and deleted with the project. */
export function newSubscriberParts(project: ProjectRef, subscribers = 0): readonly UsageItem[] {
  return newParts({ name: subscribersName, project }, subscribers);
}

/** The units in each part of a counter; undefined for a part that does not exist. */
export type Parts = readonly (number | undefined)[];

export function sumOf(parts: Parts): number {
  return parts.reduce<number>((sum, used = 0) => sum + used, 0);
}

/** Reads the parts of a counter: one call, strongly consistent. */
export async function readParts(
  dynamo: DynamoDBDocumentClient,
  { table, project, name }: Counter,
  abortSignal?: AbortSignal,
): Promise<Parts> {
  const { Items = [] } = await dynamo.send(
    new QueryCommand({
      TableName: table,
      KeyConditionExpression: 'projectRef = :project AND begins_with(period, :prefix)',
      ExpressionAttributeValues: { ':project': project, ':prefix': `${name}#` },
      ConsistentRead: true,
    }),
    { abortSignal },
  );
  return partsIn(Items, name);
}

/** The parts of one counter among items of Usage. */
export function partsIn(items: readonly Partial<UsageItem>[], name: string): Parts {
  const used = new Map(items.map((item) => [item.period, item.used]));
  return partPeriods(name).map((period) => used.get(period));
}

/** Whether no part of a counter has room for a unit. */
export function isFull(parts: Parts, cap: number | null): boolean {
  return roomIn(parts, cap).every((room) => room === 0);
}

/** How many more units each part may hold. */
export function roomIn(parts: Parts, cap: number | null): readonly number[] {
  return parts.map((used = 0, part) =>
    cap === null ? Number.POSITIVE_INFINITY : Math.max(0, shareOf(cap, part) - used),
  );
}

/**
 * The update of a transaction that takes units. Its condition fails if the part has no room for them,
 * or does not exist. The failed item tells which: there is none without the part.
 */
export function takeUnits(counter: Counter, part: number, units: number, cap: number | null) {
  return {
    ...keyOf(counter, part),
    UpdateExpression: 'ADD used :taken',
    // A comparison with a missing attribute is false.
    ConditionExpression: cap === null ? 'attribute_exists(used)' : 'used <= :room',
    ExpressionAttributeValues: {
      ':taken': units,
      ':room': cap === null ? undefined : shareOf(cap, part) - units,
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
}

/** The update that takes units. */
export type TakenUnits = ReturnType<typeof takeUnits>;

/** The update of a transaction that gives units back. */
export function giveBackUnits(counter: Counter, part: number, units: number) {
  return {
    ...keyOf(counter, part),
    UpdateExpression: 'ADD used :givenBack',
    ConditionExpression: 'attribute_exists(used)',
    ExpressionAttributeValues: { ':givenBack': -units },
  };
}

/** The check of a transaction that a project exists, in one part of its subscriber counter. */
export function partExists(counter: Counter, part: number) {
  return { ...keyOf(counter, part), ConditionExpression: 'attribute_exists(used)' };
}

function keyOf({ table, project, name }: Counter, part: number) {
  return { TableName: table, Key: { projectRef: project, period: partPeriods(name)[part]! } };
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

/**
 * Moves units between the parts of a counter, in one transaction, unless none is above its share of the
 * cap while another one has room. Otherwise the parts with room could be filled, and the sum would exceed
 * the cap. Units are moved by amounts, so that no concurrent change is lost.
 */
export async function balanceParts(
  dynamo: DynamoDBDocumentClient,
  counter: Counter,
  cap: number | null,
): Promise<void> {
  if (cap === null) return;
  for (;;) {
    const parts = await readParts(dynamo, counter);
    if (parts.includes(undefined)) return;
    const moves = movesIn(parts, cap);
    if (moves.length === 0) return;
    // Above the cap, the parts hold even shares of what is used.
    const most = Math.max(cap, sumOf(parts));
    const updates = moves.map(({ part, units }) => ({
      Update:
        units > 0 ? takeUnits(counter, part, units, most) : giveBackUnits(counter, part, -units),
    }));
    try {
      await dynamo.send(new TransactWriteCommand({ TransactItems: updates }));
      return;
    } catch (error) {
      // A part was filled meanwhile, or deleted with its project.
      if (!cancellationReasons(error).some(conditionFailed)) throw error;
    }
  }
}

/** What to add to each part, so that all hold even shares of their sum. */
function movesIn(parts: Parts, cap: number) {
  const used = parts.map((units = 0) => units);
  const isAbove = used.some((units, part) => units > shareOf(cap, part));
  const hasRoom = used.some((units, part) => units < shareOf(cap, part));
  if (!isAbove || !hasRoom) return [];
  const sum = sumOf(parts);
  return used
    .map((units, part) => ({ part, units: shareOf(sum, part) - units }))
    .filter(({ units }) => units !== 0);
}
