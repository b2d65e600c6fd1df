import { sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import { type Conditions, conditionsOf } from '../../contract/wire/content.ts';
import type { NotificationResult, SendResult } from '../../contract/wire/notification.ts';
import { isInProgress } from '../../contract/wire/notification-status.ts';
import { classesOf, otherHosts } from '../../contract/wire/push-services.ts';
import type { Behind } from '../../lambdas/store/items.ts';
import { choiceText, simulatedConditions } from './conditions.ts';
import { extraOrigin } from './push-services.ts';
import type { Browser, Call } from './scenario.ts';
import type { Report, Response } from './simulation.ts';
import { type PushAttempt, type SliceVersion, slowIndexMs, type World } from './world.ts';

/** What several invariants ask of a report. */

export type Result = SendResult | NotificationResult;

/** Most by which the clocks of two functions differ. */
export const { clockDifferenceMs } = sliceTimeline;

/** A push for a user starts at most this much later than the browser was the user's. */
export const formerUserMs = 2000 + 1;

/** The responses with counts: 201. */
export function created({ responses }: Report): (Response & { readonly body: SendResult })[] {
  return responses.filter(({ status }) => status === 201) as ReturnType<typeof created>;
}

/** The results of responses and of `GET`. */
export function resultsOf(report: Report): Result[] {
  return [...created(report).map(({ body }) => body), ...report.notifications];
}

export function attemptsOf({ world }: Report, notificationId: string): PushAttempt[] {
  return world.attempts.filter((attempt) => attempt.notificationId === notificationId);
}

export function callOf({ scenario, world }: Report, notificationId: string): Call {
  const requestId = world.requestOf.get(notificationId);
  return scenario.calls.find((call) => call.requestId === requestId)!;
}

/** The requests that may deliver a notification: that which made it, and its repetitions. */
export function callsOf(report: Report, notificationId: string): readonly Call[] {
  const own = callOf(report, notificationId);
  const { idempotencyKey } = own;
  if (idempotencyKey === undefined) return [own];
  return report.scenario.calls.filter((call) => call.idempotencyKey === idempotencyKey);
}

/** The user ids that a request names; undefined for a broadcast. */
export function userIdsOf({ request }: Call): readonly string[] | undefined {
  return request.userIds ?? request.recipients?.map(({ userId }) => userId);
}

/** What `GET` returned first after the notification was over; undefined if it never was. */
export function firstFinal({ history }: Report, id: string) {
  return history.get(id)?.find(({ result }) => !isInProgress(result.status));
}

/** Whether the removal of the project may have ended it. */
export function isCutShort(report: Report, id: string): boolean {
  const { removedAt } = report.world;
  const endedAt = firstFinal(report, id)?.at ?? Number.POSITIVE_INFINITY;
  return removedAt !== undefined && endedAt >= removedAt;
}

/** The slices of a notification, as they were stored from time to time. */
export function slicesOf({ world }: Report, id: string): readonly (readonly SliceVersion[])[] {
  const { slices } = world.notifications.get(id) as unknown as { readonly slices: number };
  return Array.from({ length: slices }, (_, slice) => world.slices.get(`${id}/${slice}`) ?? []);
}

/** The last version that each holder of a lease has stored of a slice, one holder after another. */
export function lastOfHolders(versions: readonly SliceVersion[]): readonly SliceVersion[] {
  return versions.filter(
    ({ holder, item }, index) =>
      holder !== undefined && item.leasedBy !== versions[index + 1]?.item.leasedBy,
  );
}

/**
 * Whether a slice, as it is stored, has claimed a recipient.
 * @param key of its user's index, if it is for users, and its hash.
 */
export function isClaimed(
  { item }: Pick<SliceVersion, 'item'>,
  origin: string,
  key: Uint8Array,
): boolean {
  const { position, behind = {} } = item as { position: number; behind?: Behind };
  const cursor = behind[classOf(origin)]?.cursor;
  if (cursor !== undefined) return Buffer.compare(key, cursor) < 0;
  return Buffer.from(key).readUInt32BE() < position;
}

/** The class of a recipient, by its origin. */
export const classOf = classesOf([extraOrigin]);

/** Recipients that a version of a slice has claimed, and whose outcome it does not have. */
export function pendingIn({ item }: SliceVersion): number {
  const { claimed = 0, attempted = 0, unreached = 0 } = item as Record<string, number>;
  return claimed - attempted - unreached;
}

/** The browsers in the audience from before the request to the end. */
export function untouched(report: Report, id: string): Browser[] {
  const until = sentAtOf(id) - behindMs(callOf(report, id));
  return report.scenario.browsers.filter(
    (browser) =>
      !browser.isGone &&
      browser.subscribesAt === 0 &&
      isUnchanged(report, browser.path) &&
      isInAudience(report, browser.path, id, until),
  );
}

/** Whether the registration of a browser is from beginning to end the same, or to the removal of its project. */
export function isUnchanged({ world }: Report, path: string): boolean {
  const { removedAt = Number.POSITIVE_INFINITY } = world;
  const [first, ...others] = world.registrations.get(path) ?? [];
  // Another key pair is a correction.
  return others.every(
    ({ at, stored }) =>
      at > removedAt ||
      (stored !== undefined && choiceText(stored.choice) === choiceText(first!.stored!.choice)),
  );
}

/** Whether a browser is a recipient of a notification for each of several users. */
export function hasPassed(report: Report, path: string, id: string): boolean {
  return userIdsOf(callOf(report, id)) !== undefined && !isUnchanged(report, path);
}

/**
 * How many browsers may be unreached while their slice goes on: those that have passed to another user, and those at a
 * host that is not known by name, which is given up when it is silent.
 */
export function leftOutOf(report: Report, id: string): number {
  return report.scenario.browsers.filter(
    ({ path, origin }) => hasPassed(report, path, id) || classOf(origin) === otherHosts,
  ).length;
}

/** The users that a browser had at some time in this span. */
export function usersOfBrowser(world: World, path: string, from: number, to: number): string[] {
  return world
    .registeredBetween(path, from, to)
    .flatMap((stored) => (stored?.user === undefined ? [] : [stored.user]));
}

/** Whether a browser matched the request of a notification at some time from its begin to a later one. */
export function isInAudience(report: Report, path: string, id: string, until: number): boolean {
  return matches(report, path, id, until).length > 0;
}

/** Most recipients that a notification can have: a browser is one for each of its users. */
export function mostRecipients(report: Report, id: string): number {
  const isToUsers = userIdsOf(callOf(report, id)) !== undefined;
  return report.scenario.browsers
    .map(({ path }) => matches(report, path, id, Number.POSITIVE_INFINITY))
    .map((found) => (isToUsers ? new Set(found.map(({ user }) => user)).size : +(found.length > 0)))
    .reduce((sum, number) => sum + number, 0);
}

/** The languages that were stored of a browser from the send until a time. */
export function localesOf(report: Report, path: string, id: string, until: number) {
  return matches(report, path, id, until).map(({ choice }) => choice.locale);
}

/** What was stored of a browser that matched the request. */
function matches({ world, ...report }: Report, path: string, id: string, until: number) {
  const call = callOf({ world, ...report }, id);
  const userIds = userIdsOf(call);
  const sentAt = sentAtOf(id);
  const conditions = Object.entries(conditionsOf(call.request));
  return world
    .registeredBetween(path, sentAt - behindMs(call), until)
    .filter((stored) => stored !== undefined)
    .filter(
      (stored) =>
        (userIds === undefined || (stored.user !== undefined && userIds.includes(stored.user))) &&
        conditions.every(([name, value]) =>
          simulatedConditions[name as keyof Conditions].isMet(value as never, stored, sentAt),
        ),
    );
}

/** An index, and reads of large audiences, may be behind. */
function behindMs(call: Call): number {
  return (userIdsOf(call) === undefined ? 1000 : slowIndexMs) + clockDifferenceMs;
}

/** The time in a UUID of version 7: epoch ms. */
export function sentAtOf(notificationId: string): number {
  return Number.parseInt(notificationId.replace('-', '').slice(0, 12), 16);
}

/** The counts of a result, to be compared. */
export function countsText({ failures = {}, ...result }: Result): string {
  const { attempted, delivered, removed, failed, unreached = 0 } = result;
  const reasons = Object.entries(failures).map(([reason, number]) => `${number} ${reason}`);
  return `${[attempted, delivered, removed, failed, unreached].join('/')} ${reasons.sort()}`.trim();
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

export function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string) {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
