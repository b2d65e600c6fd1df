import { sendTimeline, sliceSizes } from '../../../contract/infrastructure/delivery.ts';
import { conditionsOf, hasConditions } from '../../../contract/wire/content.ts';
import { isInProgress } from '../../../contract/wire/notification-status.ts';
import { otherHosts } from '../../../contract/wire/push-services.ts';
import { utcMonth } from '../../../lambdas/store/counters.ts';
import {
  type Behind,
  type Division,
  endpointHash,
  positionCount,
  positionOf,
} from '../../../lambdas/store/items.ts';
import { keyed } from '../../fixtures/known-project.ts';
import { dayMs } from '../conditions.ts';
import { addedAbove } from '../counters.ts';
import {
  attemptsOf,
  callOf,
  callsOf,
  classOf,
  clockDifferenceMs,
  formerUserMs,
  grouped,
  hasPassed,
  isClaimed,
  isCutShort,
  isInAudience,
  isUnchanged,
  lastOfHolders,
  leftOutOf,
  mostRecipients,
  pendingIn,
  resultsOf,
  slicesOf,
  sum,
  untouched,
  userIdsOf,
  usersOfBrowser,
} from '../report.ts';
import { firstRef, type Report } from '../simulation.ts';
import { type EndedRun, everyone, type PushAttempt, type SliceVersion } from '../world.ts';
import { nothing, ofFinal, removed, type Verdict, verdict } from './verdicts.ts';

/** Seconds of pushing that a chunk is planned for, and of which pushes still wait when the next one is claimed. */
const [chunkSeconds, waitingSeconds] = [5, 1];

function countsAddUp(report: Report): Verdict[] {
  return resultsOf(report).flatMap((result) => {
    const { id, attempted, delivered, removed, failed, failures = {} } = result;
    const reasons = sum(Object.values(failures));
    return [
      verdict(
        attempted === delivered + removed + failed,
        () => `${id}: ${attempted} attempted, but ${delivered} + ${removed} + ${failed}`,
      ),
      verdict(failed === reasons, () => `${id}: ${failed} failed, for ${reasons} reasons`),
    ];
  });
}

/** Whoever is pushed to counts as attempted, and nobody counts twice. */
function pushedIsAttempted(report: Report): Verdict[] {
  return ofFinal(report, ({ id, attempted }) => {
    const pushed = new Set(attemptsOf(report, id).map(({ path }) => path)).size;
    const most = mostRecipients(report, id);
    return verdict(
      pushed <= attempted && attempted <= most,
      () => `${id}: ${pushed} were pushed to, ${attempted} are attempted, of ${most} recipients`,
    );
  });
}

/**
 * `delivered` are those whose push a push service has accepted: at most all of these, and at least those of whom the
 * invocation had heard that before it made the last write of its slice that is stored.
 */
function deliveredIsTrue(report: Report): Verdict[] {
  return ofFinal(report, ({ id, delivered }) => {
    const accepted = attemptsOf(report, id).filter(({ isAccepted }) => isAccepted);
    const known = accepted.filter((attempt) => isStored(report, attempt));
    const least = new Set(known.map(({ path }) => path)).size;
    // A browser that passes from one user to another is a recipient for each of them.
    const [passed, ofOne] = [true, false].map((isPassed) =>
      accepted.filter(({ path }) => hasPassed(report, path, id) === isPassed),
    );
    const most = new Set(ofOne!.map(({ path }) => path)).size + passed!.length;
    return verdict(
      least <= delivered && delivered <= most,
      () => `${id}: ${delivered} delivered; ${most} were accepted, ${least} of them known in time`,
    );
  });
}

/** Whether its invocation knew of a response before it made its last write of the slice that is stored. */
function isStored(report: Report, { notificationId, slice, run, heardAt }: PushAttempt): boolean {
  const versions = slicesOf(report, notificationId)[slice]!;
  const calledAt = versions.findLast(({ by }) => by === run)?.calledAt;
  return heardAt !== undefined && calledAt !== undefined && heardAt < calledAt;
}

/**
 * `interrupted` are those whom an invocation has claimed and has not stored what became of them: because it died,
 * because its last write failed, or because it could not write before its lease ended. After that its counts are
 * refused: another one may have taken the slice, or a stop has made them final.
 */
function interruptedIsLost(report: Report): Verdict[] {
  return ofFinal(report, ({ id, failures = {} }) => {
    const left = slicesOf(report, id)
      .flatMap(lastOfHolders)
      .filter((version) => pendingIn(version) > 0);
    const { interrupted = 0 } = failures;
    const pending = sum(left.map(pendingIn));
    const whole = left.find((version) => {
      const run = report.world.ended.get(version.holder!);
      return run?.death === undefined && !(run && isKeptFromWriting(run, version));
    });
    return [
      verdict(
        interrupted === pending,
        () => `${id}: ${interrupted} are interrupted, of ${pending} without an outcome`,
      ),
      verdict(
        whole === undefined,
        () => `${id}: ${whole!.holder} leaves ${pendingIn(whole!)} pending, and nothing failed`,
      ),
    ];
  });
}

/**
 * Whether a fault was the end of a run's last write of a slice, or of its last one in the lease that a version of the
 * slice gives it; or whether it stood still when that lease ended.
 */
function isKeptFromWriting({ sliceWrites, pause }: EndedRun, { item }: SliceVersion): boolean {
  // By its own clock.
  const leasedUntil = item.leasedUntil as number;
  const [from, to] = [leasedUntil - clockDifferenceMs, leasedUntil + clockDifferenceMs];
  const own = sliceWrites.filter(({ id }) => id === item.id);
  const inLease = own.findLast(({ calledAt }) => calledAt < from);
  const stoodStill = pause !== undefined && pause.from < to && from < pause.to;
  return stoodStill || [inLease, own.at(-1)].some((write) => write?.isLost);
}

/**
 * A function that dies takes with it, beside the pushes that it has started, the recipients that it claims ahead: those
 * of one chunk, and those of a second who waited at each push service when it was claimed. A chunk is as many positions as
 * are planned for five seconds, whoever is there. Beside them, those at push services that are slow, for whom no chunk waits.
 */
function deathIsCheap(report: Report): Verdict[] {
  const { world, scenario } = report;
  return report.notifications.flatMap(({ id }) => {
    // A user is claimed as a whole, and the pace of few subscribers is lower than one user in a chunk.
    if (userIdsOf(callOf(report, id)) !== undefined) return [];
    const slices = slicesOf(report, id);
    const pace = scenario.pushesPerSecond / slices.length;
    return slices.flatMap(lastOfHolders).flatMap((version) => {
      const { from, to, requestId, death } = world.ended.get(version.holder!)!;
      if (death === undefined || pendingIn(version) === 0) return [];
      // Meanwhile pushes wait, at each push service that is slow.
      const disturbedMs = to - from - world.undisturbedMs([everyone, requestId], { from, to });
      const waiting = (pace * disturbedMs) / 1000;
      const notStarted = pendingIn(version) - openOf(report, id, version);
      const services = new Set(unpushed(report, id, version).map(({ origin }) => classOf(origin)));
      const waited = services.size * Math.ceil(pace * waitingSeconds);
      const ahead = waited + inLastChunk(report, id, version, pace);
      return verdict(
        notStarted <= ahead + atSlowHosts(report, id, version) + waiting,
        () => `${id}: ${version.holder} died with ${notStarted} not started, at ${pace}/s`,
      );
    });
  });
}

/** Most recipients of the chunk that a version of a slice has claimed last. */
function inLastChunk(report: Report, id: string, version: SliceVersion, pace: number): number {
  const { subscribers } = report.world.notifications.get(id) as unknown as Division;
  const planned = Math.min(sliceSizes.expectedChunk, Math.ceil(pace * chunkSeconds));
  const step = Math.max(1, Math.floor((positionCount * planned) / subscribers!));
  const positions = audienceOf(report, id, version).map(({ key }) => positionOf(key));
  const { position, behind = {} } = version.item as { position: number; behind?: Behind };
  const ends = [position, ...Object.values(behind).map(({ cursor }) => positionOf(cursor))];
  const inStep = ends.map((end) => positions.filter((at) => end - step <= at && at < end).length);
  // Of those who meet conditions, half of a chunk may come from earlier steps.
  const isSparse = hasConditions(conditionsOf(callOf(report, id).request));
  return Math.max(...inStep) + (isSparse ? Math.ceil(planned / 2) : 0);
}

/** The claimed recipients who were not pushed to, at slow push services and at hosts that are not known by name. */
function atSlowHosts(report: Report, id: string, version: SliceVersion): number {
  const slow = new Set(report.world.slowOriginsOf(version.holder!).map(classOf)).add(otherHosts);
  return unpushed(report, id, version).filter(({ origin }) => slow.has(classOf(origin))).length;
}

/** The claimed recipients who were not pushed to. */
function unpushed(report: Report, id: string, version: SliceVersion) {
  const pushed = new Set(attemptsOf(report, id).map(({ path }) => path));
  return audienceOf(report, id, version).filter(
    ({ origin, path, key }) => !pushed.has(path) && isClaimed(version, origin, key),
  );
}

/** The browsers that a slice of a broadcast may reach, with their keys. */
function audienceOf(report: Report, id: string, { item }: SliceVersion) {
  const from =
    (positionCount * Number(String(item.id).split('/')[1])) / slicesOf(report, id).length;
  return report.scenario.browsers
    .filter(({ path }) => isInAudience(report, path, id, Number.POSITIVE_INFINITY))
    .map(({ origin, path }) => ({
      origin,
      path,
      key: endpointHash(keyed(firstRef), origin + path),
    }))
    .filter(({ key }) => positionOf(key) >= Math.floor(from));
}

/**
 * How many its holder has pushed to whose outcome a version of a slice does not have. What is gone waits until many
 * pushes are judged.
 */
function openOf(report: Report, id: string, { holder, calledAt }: SliceVersion): number {
  const open = attemptsOf(report, id).filter(
    ({ run, heardAt = Number.POSITIVE_INFINITY, mayBeRepeated, status = 0 }) =>
      run === holder && (mayBeRepeated || [404, 410].includes(status) || heardAt >= calledAt),
  );
  return new Set(open.map(({ path }) => path)).size;
}

/** While a slice goes on, nobody of it is `unreached`, but those who are left out at once. */
function unreachedIsOver(report: Report): Verdict[] {
  return report.notifications.flatMap(({ id }) => [
    ...slicesOf(report, id)
      .flat()
      .map(({ item, holder }) =>
        verdict(
          item.ended !== undefined || Number(item.unreached ?? 0) <= leftOutOf(report, id),
          () => `${item.id}: ${holder} stores ${item.unreached} unreached, and the slice goes on`,
        ),
      ),
    ...(report.history.get(id) ?? []).map(({ result, at }) =>
      verdict(
        !isInProgress(result.status) || result.unreached === undefined,
        () => `${id} is ${result.status} with ${result.unreached} unreached at ${at}`,
      ),
    ),
  ]);
}

/** Over all invocations, attempted and unreached sum up to the audience: nobody is in both, and nobody in neither. */
function everyoneIsCounted(report: Report): Verdict[] {
  return ofFinal(report, ({ id, attempted, unreached, status }) => {
    const call = callOf(report, id);
    const counted = attempted + (unreached ?? 0);
    const isBroadcast = userIdsOf(call) === undefined && !hasConditions(conditionsOf(call.request));
    // How many do not meet conditions is not known of those who were not read.
    if (unreached !== undefined && !isBroadcast) {
      return nothing('`unreached` of a send with conditions is a lower bound');
    }
    const least = untouched(report, id).length;
    const atLeast = verdict(
      counted >= least,
      () => `${id}: ${counted} of at least ${least} are attempted or unreached`,
    );
    if (status !== 'sent') {
      return [atLeast, nothing('a slice was lost or stopped: how many it has left is not known')];
    }
    // Removals of what is gone, and corrections of pairs, are the delivery's own.
    const own = callsOf(report, id).map(({ requestId }) => requestId);
    const { registrations, ended } = report.world;
    const isQuiet = [...registrations.values()]
      .flat()
      .every(({ by }) => by === undefined || own.includes(ended.get(by)!.requestId));
    if (!isQuiet)
      return [atLeast, nothing('subscriptions changed: at least the others are counted')];
    const most = mostRecipients(report, id);
    // Where a slice was not read to its end, at least one counts as unreached.
    const isRead = slicesOf(report, id).every((versions) => versions.at(-1)?.item.isRead);
    const exactly = verdict(
      counted === most || (!isRead && attempted === most && unreached === 1),
      () => `${id}: ${counted} of ${most} are attempted or unreached`,
    );
    return [atLeast, exactly];
  });
}

/** Who counts as attempted was pushed to, unless the reason of the failure says that it may not have started. */
function attemptedIsPushed(report: Report): Verdict[] {
  return ofFinal(report, ({ id, unreached, failures = {} }) => {
    if (unreached !== undefined) return nothing('some are unreached, and nobody says who');
    const pushed = new Set(attemptsOf(report, id).map(({ path }) => path));
    const missing = untouched(report, id).filter(({ path }) => !pushed.has(path));
    // Without a connection nothing is sent.
    const { interrupted = 0, no_response = 0 } = failures;
    return verdict(
      missing.length <= interrupted + no_response,
      () => `${id}: ${missing.map(({ path }) => path)} were not pushed to`,
    );
  });
}

/**
 * Who counts as reached has a browser that accepted a push. Who does not has none of which an invocation knew that
 * before its last write.
 */
function reachedIsTrue(report: Report): Verdict[] {
  const usersWith = (id: string, isWanted: (attempt: PushAttempt) => boolean) =>
    new Set(
      attemptsOf(report, id)
        .filter(isWanted)
        .flatMap(({ path, startedAt }) =>
          usersOfBrowser(report.world, path, startedAt - formerUserMs, startedAt),
        ),
    );
  return resultsOf(report).flatMap((result) => {
    const { id } = result;
    const userIds = userIdsOf(callOf(report, id));
    if (userIds === undefined) return [];
    if (isCutShort(report, id)) return removed;
    const accepted = usersWith(id, ({ isAccepted }) => isAccepted);
    const known = usersWith(
      id,
      (attempt) =>
        attempt.isAccepted && isUnchanged(report, attempt.path) && isStored(report, attempt),
    );
    if ('audience' in result) {
      const { usersReached, status } = result;
      if (usersReached === undefined) {
        return verdict(isInProgress(status), () => `${id}: nobody says how many were reached`);
      }
      return verdict(
        known.size <= usersReached && usersReached <= accepted.size,
        () => `${id}: ${usersReached} reached, of ${accepted.size}, ${known.size} known in time`,
      );
    }
    const notReached = new Set(result.usersNotReached);
    const wrong = userIds.find((userId) =>
      notReached.has(userId) ? known.has(userId) : !accepted.has(userId),
    );
    return verdict(wrong === undefined, () => `${id}: whether ${wrong} was reached is wrong`);
  });
}

function monthCounterIsExact({ world, counterFaults }: Report): Verdict[] {
  const byMonth = grouped(world.sends, ({ sentAt }) => utcMonth(new Date(sentAt)));
  const above = [...byMonth.values()].map((sends) =>
    addedAbove(world, 'monthlySendCap', sends, sendTimeline.timeoutMs),
  );
  return [counterFaults.month, ...above].map((broken) => ({ broken }));
}

function subscriberCountersAreExact({ world, counterFaults }: Report): Verdict[] {
  const changes = [...world.registrations.values()].flatMap((history) =>
    history.flatMap(({ at, stored }, index) => {
      const by = Number(stored !== undefined) - Number(history[index - 1]?.stored !== undefined);
      return by === 0 ? [] : [{ at, by: by as 1 | -1 }];
    }),
  );
  const before = changes.filter(({ at }) => at < (world.removedAt ?? Number.POSITIVE_INFINITY));
  const above = addedAbove(world, 'subscriberCap', before, 10_000);
  return [counterFaults.subscribers, above].map((broken) => ({ broken }));
}

/** A send is refused because of the cap only if the month to whose end it is sent back is full. */
function capIsReached({ world, responses }: Report): Verdict[] {
  const cap = Math.min(...world.limits.map(({ monthlySendCap }) => monthlySendCap ?? Infinity));
  const refused = responses.filter(({ body }) => body.error?.code === 'send_cap_reached');
  return refused.map(({ call, headers, at }) => {
    const retryAfterMs = Number(headers['Retry-After']) * 1000;
    const month = utcMonth(new Date(at + retryAfterMs - dayMs));
    const begun = world.sends.filter(
      ({ by, sentAt }) => by === 1 && utcMonth(new Date(sentAt)) === month,
    ).length;
    return verdict(
      begun >= cap,
      () => `${call.requestId} is sent back to the end of ${month}, which has ${begun} sends`,
    );
  });
}

export const counts = {
  countsAddUp,
  pushedIsAttempted,
  deliveredIsTrue,
  interruptedIsLost,
  deathIsCheap,
  unreachedIsOver,
  everyoneIsCounted,
  attemptedIsPushed,
  reachedIsTrue,
  monthCounterIsExact,
  subscriberCountersAreExact,
  capIsReached,
};
