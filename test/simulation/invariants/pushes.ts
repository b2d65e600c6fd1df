import { sendTimeline, sliceTimeline } from '../../../contract/infrastructure/delivery.ts';
import { endpointHash } from '../../../lambdas/store/items.ts';
import { keyed } from '../../fixtures/known-project.ts';
import { titleIn } from '../conditions.ts';
import {
  callOf,
  clockDifferenceMs,
  formerUserMs,
  grouped,
  hasPassed,
  isClaimed,
  isInAudience,
  localesOf,
  userIdsOf,
  usersOfBrowser,
} from '../report.ts';
import { firstRef, type Report } from '../simulation.ts';
import type { PushAttempt } from '../world.ts';
import { nothing, type Verdict, verdict } from './verdicts.ts';

/** Ms within which pushes end after the deletion of their project. */
const silentAfterMs = 5000;

/** Three, and one more with the other key pair. A push that was refused because of its rate is none. */
const maxAttempts = 4;

/** The pushes of the project, and not those of a later one of its id. */
function ownAttempts({ world }: Report): PushAttempt[] {
  return world.attempts.filter(({ path }) => !path.startsWith('/successor'));
}

/** A push starts only if it is stored that its invocation has the slice, and has claimed the recipient. */
function* pushesAreClaimed(report: Report): Iterable<Verdict> {
  for (const attempt of ownAttempts(report)) {
    const { path, origin, notificationId, slice, stored, run, startedAt } = attempt;
    if (hasPassed(report, path, notificationId)) {
      yield nothing('a browser that has passed to another user is a recipient at two positions');
      continue;
    }
    const what = `${path} of ${notificationId}/${slice} is pushed to by ${run}`;
    const until = Number(stored?.item.leasedUntil ?? 0);
    const isHeld = stored?.holder === run && startedAt <= until + clockDifferenceMs;
    yield verdict(isHeld, () => `${what}, without the slice`);
    if (!isHeld) continue;
    const key = keyIn(report, attempt);
    yield verdict(isClaimed(stored, origin, key), () => `${what}, before it is claimed`);
  }
}

/** The key of a recipient in its slice. */
function keyIn(report: Report, { notificationId, slice, path, origin }: PushAttempt): Uint8Array {
  const { world } = report;
  const hash = endpointHash(keyed(firstRef), origin + path);
  const userIds = userIdsOf(callOf(report, notificationId));
  if (userIds === undefined) return hash;
  const { slices } = world.notifications.get(notificationId) as unknown as { slices: number };
  const from = Math.floor((slice * userIds.length) / slices);
  const [user] = usersOfBrowser(world, path, 0, Number.POSITIVE_INFINITY);
  const index = Buffer.alloc(4);
  index.writeUInt32BE(userIds.indexOf(user!) - from);
  return Buffer.concat([index, hash]);
}

/**
 * A recipient is pushed to again only after a refusal by status, or on a connection that closed and had been used
 * before; and only by the same invocation.
 */
function* pushedOnce(report: Report): Iterable<Verdict> {
  const byRecipient = grouped(report.world.attempts, (at) => `${at.path} of ${at.notificationId}`);
  for (const [recipient, attempts] of byRecipient) {
    const [first] = attempts;
    if (hasPassed(report, first!.path, first!.notificationId)) {
      yield nothing('a browser that has passed to another user gets what is for each of them');
      continue;
    }
    const inOrder = attempts.toSorted((one, other) => one.startedAt - other.startedAt);
    const early = inOrder.slice(1).find((_, index) => !inOrder[index]!.mayBeRepeated);
    yield verdict(early === undefined, () => `${recipient} is pushed to after it may have arrived`);
    const other = attempts.find(({ run }) => run !== first!.run);
    yield verdict(
      other === undefined,
      () => `${recipient} is pushed to by ${first!.run} and by ${other!.run}`,
    );
    const counted = attempts.filter(({ status = 0 }) => status !== 429 && status !== 406);
    yield verdict(
      counted.length <= maxAttempts,
      () => `${recipient} has ${counted.length} attempts`,
    );
  }
}

/** Only browsers that match the request, at some time since it came, are pushed to. */
function* onlyAudienceIsPushed(report: Report): Iterable<Verdict> {
  for (const { path, notificationId, startedAt } of ownAttempts(report)) {
    yield verdict(
      isInAudience(report, path, notificationId, startedAt),
      () => `${path} does not match the request of ${notificationId}`,
    );
  }
}

/**
 * Each browser gets the text of its language. What is for some users reaches only browsers that were theirs within the
 * last seconds, and each of these gets the text of its user.
 */
function* textsAreTheirOwn(report: Report): Iterable<Verdict> {
  for (const { notificationId, path, title, startedAt } of ownAttempts(report)) {
    const call = callOf(report, notificationId);
    const userIds = userIdsOf(call);
    const { title: given, translations } = call.request;
    const users = usersOfBrowser(report.world, path, startedAt - formerUserMs, startedAt);
    const own =
      userIds === undefined ? [given] : users.map((user) => given.replace('{{name}}', user));
    const expected = own.flatMap((text) =>
      translations === undefined
        ? text
        : localesOf(report, path, notificationId, startedAt).map((locale) => titleIn(locale, text)),
    );
    yield verdict(
      expected.includes(title) && (userIds?.some((user) => users.includes(user)) ?? true),
      () => `${path} of ${users} gets "${title}" of ${notificationId}`,
    );
  }
}

/** With a response to wait for, no push starts after the last moment for it. */
function* noPushAfterItsTime(report: Report): Iterable<Verdict> {
  const { world, scenario } = report;
  for (const { notificationId, requestId, path, startedAt } of ownAttempts(report)) {
    if (callOf(report, notificationId).respondAsync) continue;
    const { at } = scenario.calls.find((call) => call.requestId === requestId)!;
    const afterMs = startedAt - world.startsAt - at;
    yield verdict(
      afterMs <= sendTimeline.lastPushMs + clockDifferenceMs + 1,
      () => `push ${path} starts after ${afterMs} ms`,
    );
  }
}

/** No push starts after the time that the response of a stop promises. */
function* noPushAfterStop({ stops, world }: Report): Iterable<Verdict> {
  for (const { at, notification } of stops) {
    const late = world.attempts.find(
      ({ notificationId, startedAt }) =>
        notificationId === notification.id && startedAt - at > sliceTimeline.lastPushAfterStopMs,
    );
    yield verdict(
      late === undefined,
      () =>
        `${late!.path} is pushed to ${late!.startedAt - at} ms after ${notification.id} was stopped`,
    );
  }
}

/** Pushes of a deleted project end soon, and none reaches the subscribers of a later project of its id. */
function* deletedProjectIsSilent({ world, deletedAt }: Report): Iterable<Verdict> {
  if (deletedAt === undefined) return;
  for (const { path, startedAt } of world.attempts) {
    yield verdict(
      !path.startsWith('/successor'),
      () => `${path} gets a push of an earlier project`,
    );
    const afterMs = startedAt - deletedAt;
    yield verdict(
      afterMs <= silentAfterMs,
      () => `push ${path} starts ${afterMs} ms after the deletion`,
    );
  }
}

/** While a project is paused, nothing begins, and no push starts. */
function* pausedProjectIsSilent({ world, pauses }: Report): Iterable<Verdict> {
  for (const { from, to } of pauses) {
    const isMeanwhile = (at: number) => from < at && at < to;
    const begun = world.sends.find(({ at, by }) => by === 1 && isMeanwhile(at));
    yield verdict(begun === undefined, () => `${begun!.id} has begun while its project is paused`);
    const late = world.attempts.find(
      ({ path, startedAt }) => isMeanwhile(startedAt) && !path.startsWith('/successor'),
    );
    yield verdict(
      late === undefined,
      () => `${late!.path} is pushed to ${late!.startedAt - from} ms after the project was paused`,
    );
  }
}

/** Of the two key pairs of a project, the wrong one is tried once at most. */
function* keyPairIsFound({ world, scenario }: Report): Iterable<Verdict> {
  const refused = world.attempts.filter(({ isMismatch }) => isMismatch);
  const byPush = grouped(refused, (at) => `${at.path} of ${at.notificationId} by ${at.run}`);
  for (const [push, attempts] of byPush) {
    yield scenario.commands.some(({ kind }) => kind.endsWith('pair'))
      ? nothing('the operator has changed the pairs')
      : verdict(attempts.length === 1, () => `${push} tries a wrong pair ${attempts.length} times`);
  }
}

export const pushes = {
  pushesAreClaimed,
  pushedOnce,
  onlyAudienceIsPushed,
  textsAreTheirOwn,
  noPushAfterItsTime,
  noPushAfterStop,
  deletedProjectIsSilent,
  pausedProjectIsSilent,
  keyPairIsFound,
};
