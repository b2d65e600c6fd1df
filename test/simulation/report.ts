import { sendTimeline, sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import { type Conditions, conditionsOf } from '../../contract/wire/content.ts';
import type { NotificationResult, SendResult } from '../../contract/wire/notification.ts';
import { isInProgress } from '../../contract/wire/notification-status.ts';
import { usersOf } from '../../lambdas/send/sending.ts';
import { endpointHash, positionOf } from '../../lambdas/store/items.ts';
import { keyed } from '../fixtures/known-project.ts';
import { simulatedConditions } from './conditions.ts';
import type { Browser, Call } from './scenario.ts';
import type { Report, Response } from './simulation.ts';
import { type PushAttempt, type SliceFate, slowIndexMs } from './world.ts';

/** What several invariants ask of a report. */

export type Result = SendResult | NotificationResult;

/** Most by which the clocks of two functions differ. */
export const { clockDifferenceMs } = sliceTimeline;

/** A push for a user starts at most this much later than the browser was the user's. */
export const formerUserMs = 2000 + 1;

/** Of one event. A slow delivery needs all of them. */
const lambdaAttempts = 3;

/** For which an attempt whose function does not die pushes. */
const leastAttemptMs = sliceTimeline.timeoutMs - sliceTimeline.lastChunkBeforeEndMs - 60_000;

/** The results of responses and of `GET`. */
export function resultsOf({ responses, notifications }: Report): Result[] {
  return [
    ...responses.flatMap(({ outcome }) => (outcome.kind === 'sent' ? [outcome.result] : [])),
    ...notifications,
  ];
}

export function attemptsOf({ world }: Report, notificationId: string): PushAttempt[] {
  return world.attempts.filter((attempt) => attempt.notificationId === notificationId);
}

export function callOf({ scenario, requestOf }: Report, notificationId: string): Call {
  const requestId = requestOf.get(notificationId);
  return scenario.calls.find((call) => call.requestId === requestId)!;
}

/** The requests that may deliver a notification: that which made it, and its repetitions. */
export function callsOf(report: Report, notificationId: string): readonly Call[] {
  const own = callOf(report, notificationId);
  const { idempotencyKey } = own;
  if (idempotencyKey === undefined) return [own];
  return report.scenario.calls.filter((call) => call.idempotencyKey === idempotencyKey);
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

/** Whether a function of the notification died, or had no connection to the database at its end. */
export function hasUnheard(report: Report, id: string): boolean {
  return callsOf(report, id).some(({ requestId }) => report.world.unheard.has(requestId));
}

/** What Lambda has made of each slice of a notification. */
function fatesOf({ world }: Report, id: string): readonly SliceFate[] {
  return [...world.fates.values()].filter(({ slice }) => slice.notificationId === id);
}

/**
 * The slices of a notification that AWS may lose: Lambda has refused them until the end of the request, has lost or
 * dropped the event, or the attempts whose function has not died are too few. Repeated pushes take from the pace.
 */
export function lostSlices(report: Report, id: string, { at }: Call): readonly SliceFate[] {
  const { isSlow, pushesPerSecond } = report.scenario;
  const attemptsNeeded = isSlow ? lambdaAttempts : 1;
  const pushedForMs = ((report.world.started.get(id) ?? 0) / pushesPerSecond) * 1000;
  const isUsedUp = isSlow && pushedForMs > lambdaAttempts * leastAttemptMs;
  return fatesOf(report, id).filter(
    ({ accepted, events, isTooOld, refusedAt, deaths }) =>
      (events === 0 &&
        (accepted > 0 ||
          refusedAt > report.world.startsAt + at + sendTimeline.lastPushMs - 3000)) ||
      isTooOld ||
      isUsedUp ||
      deaths + attemptsNeeded > lambdaAttempts,
  );
}

/** Whether a browser may be a recipient of a slice. */
export function isInSlice({ slice }: SliceFate, { origin, path, userId }: Browser): boolean {
  const { userIds, from, to } = slice;
  if (userIds !== undefined) return userId !== undefined && userIds.includes(userId);
  const position = positionOf(endpointHash(keyed(slice.project), origin + path));
  return from <= position && position < to;
}

/** Browsers that may be unreached because they have passed from one user to another. */
export function passedOn(report: Report, id: string): number {
  if (usersOf(callOf(report, id).request) === undefined) return 0;
  return report.scenario.browsers.filter(({ path }) => !isUnchanged(report, path)).length;
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
      (stored !== undefined &&
        stored.user === first!.stored!.user &&
        String(stored.channels) === String(first!.stored!.channels)),
  );
}

/** The users that a browser had at some time in this span. */
export function usersOfBrowser(
  { world }: Report,
  path: string,
  from: number,
  to: number,
): string[] {
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
  const isToUsers = usersOf(callOf(report, id).request) !== undefined;
  return report.scenario.browsers
    .map(({ path }) => matches(report, path, id, Number.POSITIVE_INFINITY))
    .map((found) => (isToUsers ? new Set(found.map(({ user }) => user)).size : +(found.length > 0)))
    .reduce((sum, number) => sum + number, 0);
}

/** What was stored of a browser that matched the request. */
function matches(report: Report, path: string, id: string, until: number) {
  const call = callOf(report, id);
  const userIds = usersOf(call.request)?.userIds;
  const sentAt = sentAtOf(id);
  const conditions = Object.entries(conditionsOf(call.request));
  return report.world
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
function behindMs({ request }: Call): number {
  return (usersOf(request) === undefined ? 1000 : slowIndexMs) + clockDifferenceMs;
}

/** The time in a UUID of version 7: epoch ms. */
function sentAtOf(notificationId: string): number {
  return Number.parseInt(notificationId.replace('-', '').slice(0, 12), 16);
}

/** The id of the notification of a response. */
export function idIn({ outcome }: Response): string | undefined {
  if (outcome.kind === 'sent') return outcome.result.id;
  return outcome.kind === 'accepted' ? outcome.id : undefined;
}

export function countsText({
  attempted,
  delivered,
  removed,
  failed,
  unreached = 0,
}: Result): string {
  return [attempted, delivered, removed, failed, unreached].join('/');
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
