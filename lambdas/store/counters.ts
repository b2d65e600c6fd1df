import { createHash } from 'node:crypto';
import {
  type DynamoDBDocumentClient,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import type { ProjectRef } from '../../contract/wire/project.ts';
import { cancellationReasons, conditionFailed, isConditionFailure } from './dynamo.ts';
import { partitionCount, partitionOf, type UsageItem } from './items.ts';

/**
 * A counter of a project, in parts: items in Usage whose sum is the count. Transactions on one item
 * conflict, so one item carries only 50 to 100 of them per second.
 *
 * A cap is divided into shares, one for each part. No part takes more than its share, so the sum never
 * exceeds the cap, whatever runs at once. A unit is taken from any part that has room, and given back to any part. A part
 * may become negative: it then has more room.
 *
 * That requires that no part is above its share. Each part therefore stores the cap for which the units were divided, and
 * a unit is taken only under that cap. Under another cap, or none, the units are first divided again, as soon as their sum
 * is below it.
 *
 * All parts are created at once while the project exists, and deleted with it. Nothing is counted in a part
 * that does not exist.
 *
 * The operator's command closes a counter, with another value in place of the cap: that of a month while the project is
 * paused, and both while they are counted again. No unit is taken then, and no subscriber given back.
 */
export interface Counter {
  readonly table: string;
  readonly project: ProjectRef;
  /** Its parts are stored under `name#0`, `name#1` and so on. */
  readonly name: string;
}

const subscribersName = 'subscribers';

/**
 * Parts of the subscriber counter, one of which is drawn for each attempt. Anybody can make 1,000 transactions on it
 * per second, the throttles of subscribe and unsubscribe: with 32 parts fewer than 1 % of them still conflict in the fourth
 * attempt.
 */
export const subscriberPartCount = 32;

/** Counts the items in Subscriptions. */
export function subscriberCounter(table: string, project: ProjectRef): Counter {
  return { table, project, name: subscribersName };
}

/** Counts the notifications of a UTC month. The month's first send creates it. */
export function monthCounter(table: string, project: ProjectRef, time: Date): Counter {
  return { table, project, name: utcMonth(time) };
}

/** The part that counts a notification if it has room: the same for each repetition of its transaction. */
export function notificationPart(notificationId: string): number {
  return partitionOf(createHash('sha256').update(notificationId).digest());
}

/**
 * Chooses this part, or else the next one that has room. If all callers chose the part with the most room, they would
 * conflict.
 */
export function firstFrom(part: number): ChoosePart {
  return (parts) => parts.find((one) => one >= part) ?? parts[0]!;
}

/** The sort keys of a counter's parts. */
export function partPeriods(name: string): readonly string[] {
  const length = name === subscribersName ? subscriberPartCount : partitionCount;
  return Array.from({ length }, (_, part) => `${name}#${part}`);
}

/** The keys of the parts of a project's counter: of its subscribers, or of a month. */
export function partKeys(project: ProjectRef, name = subscribersName) {
  return partPeriods(name).map((period) => ({ projectRef: project, period }));
}

/** What each of a number of parts may hold of a cap. All shares add up to the cap. */
export function sharesOf(cap: number, parts: number): readonly number[] {
  return Array.from({ length: parts }, (_, part) => Math.floor((cap + parts - 1 - part) / parts));
}

/**
 * The items of a counter whose units are divided evenly: of a project's subscribers, if it has no name.
 * @param cap for which they are divided. Undefined: taking the first unit needs three more calls.
 */
export function newParts(
  { name = subscribersName, project }: Partial<Counter> & Pick<Counter, 'project'>,
  units = 0,
  cap?: number | null,
): readonly UsageItem[] {
  const periods = partPeriods(name);
  const shares = sharesOf(units, periods.length);
  return periods.map((period, part) => ({
    projectRef: project,
    period,
    used: shares[part]!,
    ...(cap !== undefined && { cap: storedCap(cap) }),
  }));
}

function storedCap(cap: number | null): NonNullable<UsageItem['cap']> {
  return cap ?? 'none';
}

/** The units in each part of a counter; undefined for a part that does not exist. */
export type Parts = readonly (number | undefined)[];

export function sumOf(parts: Parts): number {
  return parts.reduce<number>((sum, used = 0) => sum + used, 0);
}

/** Reads the parts of a counter: one call, strongly consistent. */
export async function readParts(dynamo: DynamoDBDocumentClient, counter: Counter): Promise<Parts> {
  return partsIn(await readItems(dynamo, counter), counter.name);
}

/** Reads the items of a counter, as {@link readParts} does. */
export async function readItems(
  dynamo: DynamoDBDocumentClient,
  { table, project, name }: Counter,
  abortSignal?: AbortSignal,
): Promise<readonly UsageItem[]> {
  const { Items = [] } = await dynamo.send(
    new QueryCommand({
      TableName: table,
      KeyConditionExpression: 'projectRef = :project AND begins_with(period, :prefix)',
      ExpressionAttributeValues: { ':project': project, ':prefix': `${name}#` },
      ConsistentRead: true,
    }),
    { abortSignal },
  );
  return Items as UsageItem[];
}

/** The parts of one counter among items of Usage. */
function partsIn(items: readonly Partial<UsageItem>[], name: string): Parts {
  const used = new Map(items.map((item) => [item.period, item.used]));
  return partPeriods(name).map((period) => used.get(period));
}

/** The units that a counter has room for. */
export function roomBelow(cap: number | null, parts: Parts): number {
  return cap === null ? Number.POSITIVE_INFINITY : Math.max(0, cap - sumOf(parts));
}

/** Reads the cap of a counter again. */
export type ReadCap = () => Promise<number | null>;

/** The units that each part of a counter has room for, under this cap: 0 in all parts if their sum is not below it. */
export interface Room {
  readonly cap: number | null;
  readonly parts: readonly number[];
}

/**
 * Reads the room of a counter, divided for the cap. If it is divided for another cap, that may be the newer one: reads
 * the cap again before it divides.
 * @param now epoch ms.
 * @returns undefined if the counter does not exist.
 */
export async function roomOf(
  dynamo: DynamoDBDocumentClient,
  counter: Counter,
  remembered: number | null,
  readCap: ReadCap,
  now: number,
  signal?: AbortSignal,
): Promise<Room | 'closed' | undefined> {
  let cap = remembered;
  for (let isReadAgain = false; ; ) {
    const items = await openItems(dynamo, counter, now, signal);
    if (items === 'closed') return items;
    const parts = partsIn(items, counter.name);
    if (parts.includes(undefined)) return undefined;
    const isDivided = () => items.every((item) => item.cap === storedCap(cap));
    if (!isReadAgain && !isDivided()) {
      cap = await readCap();
      isReadAgain = true;
    }
    if (roomBelow(cap, parts) === 0) return { cap, parts: parts.map(() => 0) };
    const isDividedBefore = isDivided();
    if (isDividedBefore || (await divide(dynamo, counter, cap, parts, signal))) {
      const used = isDividedBefore ? parts : sharesOf(sumOf(parts), parts.length);
      return { cap, parts: roomIn(used, cap) };
    }
  }
}

function roomIn(used: Parts, cap: number | null): readonly number[] {
  if (cap === null) return used.map(() => Number.POSITIVE_INFINITY);
  const shares = sharesOf(cap, used.length);
  return used.map((units = 0, part) => Math.max(0, shares[part]! - units));
}

/**
 * Moves units between the parts, so that all hold even shares of their sum, and stores the cap. By amounts, so that no
 * concurrent change is lost.
 * @returns false if a part would exceed its share, because units were taken meanwhile, or if the counter was closed.
 */
async function divide(
  dynamo: DynamoDBDocumentClient,
  counter: Counter,
  cap: number | null,
  parts: Parts,
  abortSignal: AbortSignal | undefined,
): Promise<boolean> {
  const evenly = sharesOf(sumOf(parts), parts.length);
  const most = cap === null ? undefined : sharesOf(cap, parts.length);
  const updates = parts.map((used = 0, part) => {
    const moved = evenly[part]! - used;
    return {
      ...keyOf(counter, part),
      UpdateExpression: 'SET cap = :cap ADD used :moved',
      ConditionExpression: `${isOpen} AND ${cap === null ? 'attribute_exists(used)' : 'used <= :most'}`,
      ExpressionAttributeValues: {
        ...closedValue,
        ':cap': storedCap(cap),
        ':moved': moved,
        ':most': most && most[part]! - moved,
      },
    };
  });
  try {
    const TransactItems = updates.map((Update) => ({ Update }));
    await dynamo.send(new TransactWriteCommand({ TransactItems }), { abortSignal });
    return true;
  } catch (error) {
    if (cancellationReasons(error).some(conditionFailed)) return false;
    throw error;
  }
}

/** The condition that a part is not closed. */
const isOpen = '(attribute_not_exists(cap) OR cap <> :closed)';
export const closedValue = { ':closed': 'closed' satisfies UsageItem['cap'] } as const;

/**
 * Lets every function that can read the cap again do so before it takes a further unit. So a new cap of subscribers holds at
 * once, also for functions that remember the one before.
 */
export async function forgetCap(dynamo: DynamoDBDocumentClient, counter: Counter): Promise<void> {
  // A month without notifications has no counter, nor has a project that is being removed.
  await changeParts(dynamo, counter, {
    UpdateExpression: 'REMOVE cap',
    ConditionExpression: `attribute_exists(used) AND ${isOpen}`,
    ExpressionAttributeValues: closedValue,
  });
}

/** Whether a counter is closed. @param now epoch ms. */
export async function isClosed(
  dynamo: DynamoDBDocumentClient,
  counter: Counter,
  now: number,
  signal?: AbortSignal,
): Promise<boolean> {
  return (await openItems(dynamo, counter, now, signal)) === 'closed';
}

/** Reads a counter. If it was closed until a time that is over, it is opened: whoever closed it has died. */
async function openItems(
  dynamo: DynamoDBDocumentClient,
  counter: Counter,
  now: number,
  signal: AbortSignal | undefined,
): Promise<readonly UsageItem[] | 'closed'> {
  for (;;) {
    const items = await readItems(dynamo, counter, signal);
    const closed = items.filter(({ cap }) => cap === 'closed');
    if (closed.length === 0) return items;
    if (closed.some(({ closedUntil = now }) => closedUntil >= now)) return 'closed';
    const over = {
      ConditionExpression: 'closedUntil < :now',
      ExpressionAttributeValues: { ':now': now },
    };
    const change = { UpdateExpression: 'REMOVE cap, closedUntil', ...over };
    await changeParts(dynamo, counter, change, signal);
  }
}

/** Changes the parts of a counter that meet the condition, each by itself. @returns the numbers of the others. */
export async function changeParts(
  dynamo: DynamoDBDocumentClient,
  counter: Counter,
  change: Pick<
    UpdateCommandInput,
    'UpdateExpression' | 'ConditionExpression' | 'ExpressionAttributeValues'
  >,
  abortSignal?: AbortSignal,
): Promise<readonly number[]> {
  const changing = partPeriods(counter.name).map(async (_, part) => {
    try {
      await dynamo.send(new UpdateCommand({ ...keyOf(counter, part), ...change }), { abortSignal });
      return [];
    } catch (error) {
      if (isConditionFailure(error)) return [part];
      throw error;
    }
  });
  return (await Promise.all(changing)).flat();
}

/**
 * The update of a transaction that takes units. Its condition fails if the part has no room, is divided for another
 * cap, or does not exist. Only in the last case, the failure has no item.
 */
export function takeUnits(counter: Counter, part: number, units: number, cap: number | null) {
  const share = cap === null ? undefined : sharesOf(cap, partPeriods(counter.name).length)[part]!;
  return {
    ...keyOf(counter, part),
    UpdateExpression: 'ADD used :taken',
    // A comparison with a missing attribute is false.
    ConditionExpression: cap === null ? 'cap = :cap' : 'cap = :cap AND used <= :room',
    ExpressionAttributeValues: {
      ':taken': units,
      ':cap': storedCap(cap),
      ':room': share === undefined ? undefined : share - units,
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
}

/** The update that takes units. */
export type TakenUnits = ReturnType<typeof takeUnits>;

/** The update of a transaction that gives units back. The item in its failure tells why: it is missing, or closed. */
export function giveBackUnits(counter: Counter, part: number, units: number) {
  // A send that is undone gives its unit back also while its project is paused.
  const isCounted = counter.name === subscribersName;
  return {
    ...keyOf(counter, part),
    UpdateExpression: 'ADD used :givenBack',
    ConditionExpression: isCounted
      ? `attribute_exists(used) AND ${isOpen}`
      : 'attribute_exists(used)',
    ExpressionAttributeValues: { ':givenBack': -units, ...(isCounted && closedValue) },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
}

/** The check of a transaction that a project exists, in one part of its subscriber counter. */
export function partExists(counter: Counter, part: number) {
  return { ...keyOf(counter, part), ConditionExpression: 'attribute_exists(used)' };
}

function keyOf({ table, project, name }: Counter, part: number) {
  return { TableName: table, Key: { projectRef: project, period: partPeriods(name)[part]! } };
}

/** Chooses one of these parts of a counter. */
export type ChoosePart = (parts: readonly number[]) => number;

/** Draws a part, so that nobody can find out which part a transaction changes. */
export function drawPart(random: () => number): ChoosePart {
  return (parts) => parts[Math.floor(random() * parts.length)]!;
}

/** Any part of the counter. */
export function anyPart({ name }: Counter, choose: ChoosePart): number {
  return choose([...partPeriods(name).keys()]);
}

/**
 * Takes one unit, in a part that has room.
 * @param remembered the cap; null for no limit.
 * @param attempt makes a transaction with an update of a chosen part; `part_full` if only the update's condition failed.
 * @param now epoch ms.
 * @param readCap if another function may know a newer cap.
 * @returns what `attempt` returned last, `cap_reached` if there is no room, or `closed`.
 */
export async function takeUnit<Outcome>(
  dynamo: DynamoDBDocumentClient,
  counter: Counter,
  remembered: number | null,
  choose: ChoosePart,
  attempt: (take: () => TakenUnits) => Promise<Outcome | 'part_full'>,
  now: number,
  signal?: AbortSignal,
  readCap: ReadCap = async () => remembered,
): Promise<Outcome | 'cap_reached' | 'closed'> {
  let cap = remembered;
  const all = [...partPeriods(counter.name).keys()];
  for (let candidates: readonly number[] = all, isFull = false; ; ) {
    const outcome = await attempt(() => takeUnits(counter, choose(candidates), 1, cap));
    if (outcome !== 'part_full') return outcome;
    if (isFull) return 'cap_reached';
    const room = await roomOf(dynamo, counter, cap, readCap, now, signal);
    if (room === 'closed') return room;
    if (room !== undefined) cap = room.cap;
    candidates = all.filter((part) => room !== undefined && room.parts[part]! > 0);
    // The last attempt shows whether there is another reason, such as a repeated transaction.
    isFull = candidates.length === 0;
    if (isFull) candidates = all;
  }
}

/**
 * A project's counters, part by part: its subscribers, and its notifications in a UTC month. One call reads both, because
 * `subscribers` sorts after every month.
 */
export function usedParts(dynamo: DynamoDBDocumentClient, table: string) {
  return async (project: ProjectRef, month: string, abortSignal?: AbortSignal) => {
    const { Items = [] } = await dynamo.send(
      new QueryCommand({
        TableName: table,
        KeyConditionExpression: 'projectRef = :project AND period >= :month',
        ExpressionAttributeValues: { ':project': project, ':month': month },
        ConsistentRead: true,
      }),
      { abortSignal },
    );
    const { name } = subscriberCounter(table, project);
    return { subscribers: partsIn(Items, name), sends: partsIn(Items, month) };
  };
}

export type ProjectUsage = Awaited<ReturnType<ReturnType<typeof projectUsage>>>;

/** A project's usage: its subscribers, and its notifications in a UTC month such as `2026-11`. */
export function projectUsage(dynamo: DynamoDBDocumentClient, table: string) {
  const read = usedParts(dynamo, table);
  return async (project: ProjectRef, month: string, abortSignal?: AbortSignal) => {
    const { subscribers, sends } = await read(project, month, abortSignal);
    return { subscribers: sumOf(subscribers), month, sends: sumOf(sends) };
  };
}

/** `2026-11`: the period that a send at this time counts against. */
export function utcMonth(time: Date): string {
  return time.toISOString().slice(0, 7);
}

/** The UTC month of this time, and those before and after it. */
export function monthsAround(time: Date): readonly string[] {
  const [year, month] = [time.getUTCFullYear(), time.getUTCMonth()];
  return [-1, 0, 1].map((distance) => utcMonth(new Date(Date.UTC(year, month + distance))));
}

/** Seconds until the next UTC month begins. */
export function secondsToNextMonth(now: Date): number {
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  return Math.ceil((next - now.getTime()) / 1000);
}
