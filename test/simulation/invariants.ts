import { sendTimeline, sliceTimeline } from '../../contract/infrastructure/delivery.ts';
import { conditionsOf, hasConditions } from '../../contract/wire/content.ts';
import type { NotificationResult } from '../../contract/wire/notification.ts';
import { isInProgress } from '../../contract/wire/notification-status.ts';
import { usersOf } from '../../lambdas/send/sending.ts';
import { utcMonth } from '../../lambdas/store/counters.ts';
import { dayMs } from './conditions.ts';
import { addedAbove } from './counters.ts';
import { tables } from './database/memory-database.ts';
import {
  attemptsOf,
  callOf,
  callsOf,
  clockDifferenceMs,
  countsText,
  firstFinal,
  formerUserMs,
  grouped,
  hasUnheard,
  idIn,
  isCutShort,
  isInAudience,
  isInSlice,
  isUnchanged,
  lostSlices,
  mostRecipients,
  passedOn,
  type Result,
  resultsOf,
  untouched,
  usersOfBrowser,
} from './report.ts';
import type { Browser, Call } from './scenario.ts';
import type { Report, Response } from './simulation.ts';
import type { PushAttempt, StoredRegistration } from './world.ts';

/** Says what is wrong, or undefined. */
export type Invariant = (report: Report) => string | undefined;

/** Ms within which pushes end after the deletion of their project. */
const silentAfterMs = 5000;

/** Of one kind and one function. */
const mostCallsPerSecond = 20;

/** Of the 22 s in which pushes start, the ms that a request does not need if nothing goes wrong. */
const spareMs = 10_000;

/** Three, and one more with the other key pair. */
const maxAttempts = 4;

/**
 * A recipient is pushed to by one pusher of one invocation, and again only after an attempt whose outcome
 * was transient.
 */
function pushedOnce(report: Report): string | undefined {
  // A slow push may arrive after its retry.
  const inOrder = report.world.attempts.toSorted((one, other) => one.startedAt - other.startedAt);
  // A browser that passes from one user to another gets what is for each of them.
  const toOneUser = inOrder.filter(
    ({ path, notificationId }) =>
      isUnchanged(report, path) || usersOf(callOf(report, notificationId).request) === undefined,
  );
  const byRecipient = grouped(toOneUser, (at) => `${at.path} of ${at.notificationId}`);
  for (const [recipient, attempts] of byRecipient) {
    const [first] = attempts;
    for (const [index, { run, pusher }] of attempts.entries()) {
      if (run !== first!.run || pusher !== first!.pusher) {
        return `${recipient} is pushed to by ${first!.run} and by ${run}`;
      }
      if (index > 0 && !attempts[index - 1]!.isTransient) {
        return `${recipient} is pushed to after its outcome was final`;
      }
    }
    if (attempts.length > maxAttempts) return `${recipient} has ${attempts.length} attempts`;
  }
  return undefined;
}

/** Only browsers that match the request, at some time since it came, are pushed to. */
function onlyAudienceIsPushed(report: Report): string | undefined {
  for (const attempt of report.world.attempts) {
    if (attempt.path.startsWith('/successor')) continue;
    if (!isInAudience(report, attempt.path, attempt.notificationId, attempt.startedAt)) {
      return `${attempt.path} does not match the request of ${attempt.notificationId}`;
    }
  }
  return undefined;
}

/** With a response to wait for, no push starts after the last moment for it. */
function noPushAfterItsTime(report: Report): string | undefined {
  const { world, scenario } = report;
  for (const { notificationId, requestId, path, startedAt } of world.attempts) {
    if (callOf(report, notificationId).respondAsync) continue;
    const { at } = scenario.calls.find((call) => call.requestId === requestId)!;
    const afterMs = startedAt - world.startsAt - at;
    if (afterMs > sendTimeline.lastPushMs + clockDifferenceMs + 1) {
      return `push ${path} starts after ${afterMs} ms`;
    }
  }
  return undefined;
}

/** An asynchronous notification reaches everyone, except those of slices that AWS has lost. */
function asyncReachesEveryone(report: Report): string | undefined {
  for (const { outcome, call } of report.responses) {
    if (outcome.kind !== 'accepted' || isCutShort(report, outcome.id)) continue;
    const notification = report.notifications.find(({ id }) => id === outcome.id);
    if (notification === undefined || notification.status === 'stopped') continue;
    const { id, status, unreached = 0 } = notification;
    const lost = lostSlices(report, id, call);
    if (lost.length === 0 && status !== 'sent') return `${id} is ${status}`;
    if (lost.length === 0 && unreached > passedOn(report, id)) {
      return `${id} has not reached ${unreached}`;
    }
    const others = untouched(report, id).filter(
      (one) => !lost.some((fate) => isInSlice(fate, one)),
    );
    const missing = notPushed(report, notification, others);
    if (missing.length > 0) {
      return `${id}: ${missing} were not pushed to, of slices that Lambda has`;
    }
  }
  return undefined;
}

/** An attempt of Lambda ends with an error only if its function dies or its time is over. */
function attemptsAreUsed({ world }: Report): string | undefined {
  return world.wasted[0];
}

/**
 * A caller who waits: recipients are left out only if the faults of the run have taken the time, and until it is
 * over.
 */
function waitingReachesEveryone(report: Report): string | undefined {
  for (const { id, status } of report.notifications) {
    const call = callOf(report, id);
    const final = firstFinal(report, id);
    if (call.respondAsync || final === undefined || status === 'stopped') continue;
    // At the lowest pace nobody has the time.
    if (report.scenario.isSlow || isCutShort(report, id)) continue;
    const { unreached = 0 } = final.result;
    if (unreached <= passedOn(report, id)) continue;
    const calls = callsOf(report, id);
    const delayMs = calls.reduce(
      (sum, { requestId }) => sum + report.world.delayOf(requestId),
      Math.max(...report.responses.map(({ startedAfterMs }) => startedAfterMs)),
    );
    if (delayMs < spareMs) return `${id} has not reached ${unreached}; faults took ${delayMs} ms`;
    const ender = calls.find(({ requestId }) => requestId === final.afterRun);
    if (ender === undefined || final.result.status !== 'sent') continue;
    const afterMs = final.at - report.world.startsAt - ender.at;
    if (afterMs < sendTimeline.lastPushMs - clockDifferenceMs) {
      return `${id}: ${unreached} are given up after ${afterMs} ms`;
    }
  }
  return undefined;
}

/**
 * A request that was told to try again has sent nothing. So its repetition sends to everyone, and counts nobody as
 * lost.
 */
function repetitionResumes(report: Report): string | undefined {
  for (const { outcome, call, afterMs } of report.responses) {
    if (outcome.kind !== 'sent' || outcome.result.status === 'stopped') continue;
    const { id, unreached = 0, attempted, failures = {} } = outcome.result;
    const earlier = report.responses.filter(
      (one) => callsOf(report, id).includes(one.call) && one.call.at < call.at,
    );
    const isTold = ({ outcome }: Response) => outcome.kind === 'error';
    if (earlier.length === 0 || !earlier.every(isTold) || isCutShort(report, id)) continue;
    const isEarly = afterMs < sendTimeline.lastPushMs - clockDifferenceMs;
    if (isEarly && unreached > passedOn(report, id)) {
      return `${call.requestId} repeats what has sent nothing: ${attempted} of ${id} are attempted, ${unreached} are not`;
    }
    const pushed = new Set(attemptsOf(report, id).map(({ path }) => path)).size;
    const isHeard = !report.world.unheard.has(call.requestId);
    // A push without a connection is attempted too.
    if (isHeard && attempted > (failures.no_response ?? 0) && pushed === 0) {
      return `${call.requestId} repeats what has sent nothing: ${attempted} of ${id} count, and nobody was pushed to`;
    }
  }
  return undefined;
}

/** Whoever is in the audience from before the request to the end is counted, and attempted if counted so. */
function everyoneIsCounted(report: Report): string | undefined {
  const results: readonly Result[] = [
    ...report.notifications.filter(({ status }) => status === 'sent' || status === 'stopped'),
    ...report.responses.flatMap(({ outcome }) => (outcome.kind === 'sent' ? [outcome.result] : [])),
  ];
  for (const result of results) {
    if (isCutShort(report, result.id)) continue;
    const { request } = callOf(report, result.id);
    const expected = untouched(report, result.id).length;
    const counted = result.attempted + (result.unreached ?? 0);
    // `unreached` is a lower bound, except of a broadcast without conditions.
    const isExact = usersOf(request) === undefined && !hasConditions(conditionsOf(request));
    const isBound = !isExact && result.unreached !== undefined;
    if (!isBound && counted < expected) {
      return `${result.id}: ${counted} of at least ${expected} are attempted or unreached`;
    }
  }
  return undefined;
}

/** Who counts as attempted was pushed to, unless the reason of the failure says otherwise. */
function attemptedMeansPushed(report: Report): string | undefined {
  for (const notification of report.notifications) {
    const { id, status, unreached } = notification;
    if (status !== 'sent' || unreached !== undefined || isCutShort(report, id)) continue;
    const missing = notPushed(report, notification, untouched(report, id));
    if (missing.length > 0) return `${id}: ${missing} were not pushed to`;
  }
  return undefined;
}

/** Those of some recipients that were not pushed to, unless all of them may have failed before. */
function notPushed(
  report: Report,
  { id, failures = {} }: NotificationResult,
  recipients: readonly Browser[],
): readonly string[] {
  const pushed = new Set(attemptsOf(report, id).map(({ path }) => path));
  const missing = recipients.map(({ path }) => path).filter((path) => !pushed.has(path));
  const { interrupted = 0, throttled = 0, no_response = 0, unsendable = 0 } = failures;
  return missing.length > interrupted + throttled + no_response + unsendable ? missing : [];
}

/** Pushes have an unknown outcome only if a function has died, or could not store what it knew. */
function interruptedMeansLost(report: Report): string | undefined {
  for (const { id, failures = {} } of report.notifications) {
    if ((failures.interrupted ?? 0) > 0 && !hasUnheard(report, id)) {
      return `${id}: ${failures.interrupted} are interrupted, and every function has ended`;
    }
  }
  return undefined;
}

function countsAddUp({ responses, notifications }: Report): string | undefined {
  const sent = responses.flatMap(({ outcome }) =>
    outcome.kind === 'sent' ? [outcome.result] : [],
  );
  for (const { id, attempted, delivered, removed, failed } of [...sent, ...notifications]) {
    if (attempted !== delivered + removed + failed) {
      return `${id}: ${attempted} attempted, but ${delivered} + ${removed} + ${failed}`;
    }
  }
  for (const { id, failed, failures = {} } of notifications) {
    const sum = Object.values(failures).reduce((total, number) => total + number, 0);
    if (sum !== failed) return `${id}: ${failed} failed, but the reasons add up to ${sum}`;
  }
  return undefined;
}

/**
 * What the caller was told is what is stored. A function may still store outcomes of pushes that were
 * pending when the response left, and counted as failed there.
 */
function slicesAddUpToResponse(report: Report): string | undefined {
  for (const { outcome } of report.responses) {
    if (outcome.kind !== 'sent' || isCutShort(report, outcome.result.id)) continue;
    const returned = outcome.result;
    const stored = report.notifications.find(({ id }) => id === returned.id);
    if (stored === undefined || countsText(stored) === countsText(returned)) continue;
    // What a function could not store counts as interrupted.
    const { interrupted = 0 } = stored.failures ?? {};
    const isInterrupted =
      stored.attempted >= returned.attempted &&
      stored.delivered + interrupted >= returned.delivered;
    if (hasUnheard(report, stored.id) && isInterrupted) continue;
    const { unreached = 0 } = returned;
    // A function has given back what it had claimed and not started. `unreached` then counts from the subscribers at the
    // start: also those who have left since.
    const isBetterKnown =
      stored.attempted + (stored.unreached ?? 0) >= returned.attempted + unreached &&
      stored.failed < returned.failed;
    if (isBetterKnown) continue;
    // A repeated request has continued what the first one has left.
    if (returned.unreached !== undefined && stored.attempted >= returned.attempted) continue;
    return `${stored.id}: stored ${countsText(stored)}, returned ${countsText(returned)}`;
  }
  return undefined;
}

function monthCounterIsExact({ world, counterFaults }: Report): string | undefined {
  const byMonth = grouped(world.sends, ({ sentAt }) => utcMonth(new Date(sentAt)));
  const above = [...byMonth.values()]
    .map((sends) => addedAbove(world, 'monthlySendCap', sends, sendTimeline.timeoutMs))
    .find((fault) => fault !== undefined);
  return counterFaults.month ?? above;
}

function subscriberCountersAreExact({ world, counterFaults }: Report): string | undefined {
  const changes = [...world.registrations.values()].flatMap((history) =>
    history.flatMap(({ at, stored }, index) => {
      const by = Number(stored !== undefined) - Number(history[index - 1]?.stored !== undefined);
      return by === 0 ? [] : [{ at, by: by as 1 | -1 }];
    }),
  );
  const before = changes.filter(({ at }) => at < (world.removedAt ?? Number.POSITIVE_INFINITY));
  return counterFaults.subscribers ?? addedAbove(world, 'subscriberCap', before, 10_000);
}

/** A send is refused because of the cap only if the month to whose end it is sent back is full. */
function capIsReached({ world, responses }: Report): string | undefined {
  for (const { call, outcome, at } of responses) {
    if (outcome.kind !== 'error' || outcome.code !== 'send_cap_reached') continue;
    const { retryAfterSeconds = 0 } = outcome;
    const month = utcMonth(new Date(at + retryAfterSeconds * 1000 - dayMs));
    const begun = world.sends.filter(
      ({ by, sentAt }) => by === 1 && utcMonth(new Date(sentAt)) === month,
    );
    const cap = Math.min(...world.limits.map(({ monthlySendCap }) => monthlySendCap ?? Infinity));
    if (begun.length < cap) {
      return `${call.requestId} is sent back to the end of ${month}, which has ${begun.length} sends`;
    }
  }
  return undefined;
}

/** 201 and 202 have a stored notification. */
function acceptedIsStored({ responses }: Report): string | undefined {
  const lost = responses.find(({ isStored }) => !isStored);
  return lost && `${idIn(lost)} was accepted and is not stored`;
}

/**
 * An error means that the request pushed nothing, and took no unit. Only without the database until its end it may
 * leave the unit taken.
 */
function errorMeansNothingWasSent(report: Report): string | undefined {
  for (const { call, outcome, afterMs, startedAfterMs } of report.responses) {
    if (outcome.kind !== 'error') continue;
    const { requestId } = call;
    if (outcome.code === 'internal_error') return `${requestId}: internal error`;
    // Its functions may deliver slices of the first request, whose response has their counts.
    if (outcome.code === 'request_in_progress') continue;
    const pushed = report.world.attempts.filter((attempt) => attempt.requestId === requestId);
    if (pushed.length > 0)
      return `${requestId}: ${outcome.code}, and it made ${pushed.length} pushes`;
    const triedUntilMs = Math.max(startedAfterMs, sendTimeline.endMs - 2500);
    for (const { id } of report.notifications) {
      if (report.requestOf.get(id) !== requestId || report.world.removedAt !== undefined) continue;
      const isLeft = report.notCancelled.has(id) && afterMs >= triedUntilMs;
      if (isLeft && report.world.unheard.has(requestId)) continue;
      if (attemptsOf(report, id).length > 0 || isAnsweredByAnother(report, id, call)) continue;
      return `${requestId}: ${outcome.code}, and its unit is not returned`;
    }
  }
  return undefined;
}

/** The counts of a response are what the push services saw. */
function countsAreTrue(report: Report): string | undefined {
  for (const result of resultsOf(report)) {
    const attempts = attemptsOf(report, result.id);
    const pushed = new Set(attempts.map(({ path }) => path)).size;
    const accepted = attempts.filter(({ isAccepted }) => isAccepted);
    // A browser that passes from one user to another is a recipient for each of them.
    const isPassed = ({ path }: PushAttempt) => !isUnchanged(report, path);
    const ofOneUser = accepted.filter((attempt) => !isPassed(attempt)).map(({ path }) => path);
    const acceptedPaths = new Set(ofOneUser).size + accepted.filter(isPassed).length;
    const heard = accepted.filter(({ isHeard }) => isHeard).length;
    const { id, attempted, delivered, failed } = result;
    if (attempted > mostRecipients(report, id)) {
      return `${id}: ${attempted} attempted, of ${mostRecipients(report, id)} recipients`;
    }
    if (delivered > acceptedPaths) {
      return `${id}: ${acceptedPaths} were accepted, ${delivered} delivered`;
    }
    // A response may lack what another function did. What is stored counts all that was claimed.
    const mayLack = !('audience' in result) && hasUnheard(report, id);
    if (mayLack || isCutShort(report, id)) continue;
    if (pushed > attempted) return `${id}: ${pushed} were pushed to, ${attempted} attempted`;
    if (heard > delivered + failed) return `${id}: ${heard} were accepted, ${delivered} delivered`;
  }
  return undefined;
}

/**
 * What is for some users reaches only browsers that were theirs within the last seconds, and each of these
 * gets the text of its user.
 */
function textsAreTheirOwn(report: Report): string | undefined {
  for (const { notificationId, path, title, startedAt } of report.world.attempts) {
    const { request } = callOf(report, notificationId);
    const { userIds } = usersOf(request) ?? {};
    if (userIds === undefined || path.startsWith('/successor')) continue;
    const users = usersOfBrowser(report, path, startedAt - formerUserMs, startedAt);
    const expected = users.map((user) => request.title.replace('{{name}}', user));
    if (!expected.includes(title) || !users.some((user) => userIds.includes(user))) {
      return `${path} of ${users} gets "${title}" of ${notificationId}`;
    }
  }
  return undefined;
}

/**
 * Who counts as reached has a browser that accepted a push. Who does not has none of which a response said
 * so, unless a function died before it could store that.
 */
function reachedIsTrue(report: Report): string | undefined {
  const usersWith = (id: string, isWanted: (attempt: PushAttempt) => boolean) =>
    new Set(
      attemptsOf(report, id)
        .filter(isWanted)
        .flatMap(({ path, startedAt }) =>
          usersOfBrowser(report, path, startedAt - formerUserMs, startedAt),
        ),
    );
  for (const result of resultsOf(report)) {
    const { id, status = 'sent', failures = {} } = result;
    const userIds = usersOf(callOf(report, id).request)?.userIds;
    if (userIds === undefined) continue;
    const accepted = usersWith(id, ({ isAccepted }) => isAccepted);
    const heard = usersWith(
      id,
      ({ isAccepted, isHeard, path }) => isAccepted && isHeard && isUnchanged(report, path),
    );
    const isOver = status === 'sent' || status === 'stopped';
    const isKnown = isOver && failures.interrupted === undefined && !hasUnheard(report, id);
    if ('audience' in result) {
      const { usersReached = 0 } = result;
      if (usersReached > accepted.size) return `${id}: ${usersReached} of ${accepted.size} reached`;
      if (isKnown && usersReached < heard.size)
        return `${id}: ${usersReached} of ${heard.size} reached`;
      continue;
    }
    const notReached = new Set(result.usersNotReached);
    const wrong = userIds.find((userId) =>
      notReached.has(userId) ? isKnown && heard.has(userId) : !accepted.has(userId),
    );
    if (wrong !== undefined) return `${id}: whether ${wrong} was reached is wrong`;
  }
  return undefined;
}

/** Requests with one key and one body make at most one notification, and get the same response. */
function repeatedIsSentOnce(report: Report): string | undefined {
  const keyed = report.scenario.calls.filter(({ idempotencyKey }) => idempotencyKey !== undefined);
  for (const [key, calls] of grouped(keyed, ({ idempotencyKey }) => idempotencyKey!)) {
    const requests = new Set(calls.map(({ requestId }) => requestId));
    const ids = report.notifications
      .map(({ id }) => id)
      .filter((id) => requests.has(report.requestOf.get(id)!));
    const pushed = new Set(
      report.world.attempts
        .filter(({ notificationId }) => requests.has(report.requestOf.get(notificationId)!))
        .map(({ notificationId }) => notificationId),
    );
    if (pushed.size > 1) return `${key}: ${[...pushed]} were pushed`;
    if (ids.length > 1) return `${key}: ${ids} are stored`;
    const results = report.responses.flatMap(({ call, outcome }) =>
      requests.has(call.requestId) && outcome.kind === 'sent' ? [outcome.result] : [],
    );
    const texts = new Set(
      results.map((result) => `${result.id} ${countsText(result)} ${result.usersNotReached}`),
    );
    // Another function's counts may be missing from a response, and are in the next one.
    const mayGrow = results.some(({ id }) => hasUnheard(report, id));
    const grows = results.every(
      ({ attempted }, index) => attempted >= (results[index - 1]?.attempted ?? 0),
    );
    if (texts.size > 1 && !(mayGrow && grows)) {
      return `${key}: responses ${[...texts].join(' and ')}`;
    }
  }
  return undefined;
}

function respondsInTime({ responses, world }: Report): string | undefined {
  for (const { call, outcome, afterMs, startedAfterMs } of responses) {
    const isLate = startedAfterMs > sendTimeline.endMs;
    if (outcome.kind !== 'gateway_error' && !isLate && afterMs > sendTimeline.timeoutMs) {
      return `${call.requestId} takes ${afterMs} ms`;
    }
  }
  if (world.timeOuts.length > 0) return `${world.timeOuts[0]} does not end in time`;
  return undefined;
}

function everyNotificationEnds(report: Report): string | undefined {
  const open = report.notifications.find(
    ({ id, status }) => isInProgress(status) && !isCutShort(report, id),
  );
  return open && `${open.id} is ${open.status} for ever`;
}

/** What a notification has become it stays, unless a repeated request continues one that was interrupted. */
function statusIsFinal(report: Report): string | undefined {
  for (const { id, status } of report.notifications) {
    const earlier = firstFinal(report, id)?.result.status;
    if (earlier === undefined || earlier === status) continue;
    if (earlier === 'interrupted' && callsOf(report, id).length > 1) continue;
    return `${id} was ${earlier}, and is ${status} now`;
  }
  return undefined;
}

/** No push starts after the time that the response of a stop promises. */
function noPushAfterStop({ stops, world }: Report): string | undefined {
  for (const { at, notification } of stops) {
    for (const { notificationId, path, startedAt } of world.attempts) {
      if (notificationId !== notification.id) continue;
      const afterMs = startedAt - at;
      if (afterMs > sliceTimeline.lastPushAfterStopMs) {
        return `push ${path} starts ${afterMs} ms after the stop of ${notificationId}`;
      }
    }
  }
  return undefined;
}

/**
 * What is stopped stays so with its counts, and its waiting request is told so. A function that had no connection
 * may store later what it knows of the same recipients.
 */
function stoppedIsFinal(report: Report): string | undefined {
  const { stops, notifications, responses, history } = report;
  for (const { notification } of stops) {
    const { id, status } = notification;
    if (isCutShort(report, id)) continue;
    const final = notifications.find((one) => one.id === id);
    if (status === 'stopping' || status === 'stopped') {
      if (final?.status !== 'stopped') return `${id} was ${status}, and is ${final?.status} now`;
      const earlier = history.get(id)?.find((then) => then.result.status === 'stopped')?.result;
      const isBetterKnown = earlier?.attempted === final.attempted && earlier.failed > final.failed;
      if (earlier !== undefined && !isBetterKnown && countsText(earlier) !== countsText(final)) {
        return `${id} was stopped with ${countsText(earlier)}, and has ${countsText(final)} now`;
      }
    } else if (final !== undefined && final.status !== status) {
      return `${id} was ${status} when it was to be stopped, and is ${final.status} now`;
    }
  }
  for (const { call, outcome, afterMs } of responses) {
    if (outcome.kind !== 'sent' || hasUnheard(report, outcome.result.id)) continue;
    const { id, status = 'sent' } = outcome.result;
    if (isCutShort(report, id)) continue;
    const final = notifications.find((one) => one.id === id)?.status;
    const toldAt = report.world.startsAt + call.at + afterMs;
    const isStopped = stops.some(({ at, notification }) => notification.id === id && at < toldAt);
    if (status === 'stopped' ? final !== status : final === 'stopped' && isStopped) {
      return `${id} is ${final}, and its request was told ${status}`;
    }
  }
  return undefined;
}

/** Pushes of a deleted project end soon, and none reaches the subscribers of a later project of its id. */
function deletedProjectIsSilent({ world, deletedAt }: Report): string | undefined {
  if (deletedAt === undefined) return undefined;
  for (const { path, startedAt } of world.attempts) {
    if (path.startsWith('/successor')) return `${path} gets a push of the project before its own`;
    const after = startedAt - deletedAt;
    if (after > silentAfterMs) return `push ${path} starts ${after} ms after the deletion`;
  }
  return undefined;
}

/** Nothing that a send stores is left of a deleted project, unless another one has its id. */
function deletedProjectLeavesNothing({ world, deletedAt }: Report): string | undefined {
  const { database } = world;
  if (deletedAt === undefined || database.items(tables.projects).length > 0) return undefined;
  const { subscriptions, notifications, vapidKeys, identityKeys } = tables;
  for (const table of [subscriptions, notifications, vapidKeys, identityKeys]) {
    const [left] = database.items(table);
    if (left !== undefined) return `${table}: ${JSON.stringify(left)} is left`;
  }
  const counter = database.items(tables.usage).find(({ used }) => used !== undefined);
  return counter && `the counter ${counter.period} is left`;
}

/** What is stored is the browser's last request to subscribe that had a response, or one that began later. */
function newestRegistrationIsStored({ world, subscribed }: Report): string | undefined {
  for (const [path, requests] of grouped(subscribed, ({ path }) => path)) {
    const history = world.registrations.get(path) ?? [];
    const stored = history.at(-1)?.stored;
    const answered = requests.filter(({ isAcknowledged }) => isAcknowledged).map(({ at }) => at);
    if (stored === undefined || answered.length === 0) continue;
    const newest = Math.max(...answered);
    // Nobody knows when what was removed had been requested: a request that was held until then is stored.
    if (history.some((one) => one.stored === undefined && one.at > newest)) continue;
    // Of two within the difference of the clocks, nobody knows which is the newer one.
    const since = newest - clockDifferenceMs;
    const possible = requests
      .filter(({ at }) => at > since)
      .map(({ userId, channels }) => `${userId} ${channels}`);
    const found = `${stored.user} ${stored.channels}`;
    if (!possible.includes(found)) return `${path} is ${found}, and not one of ${possible}`;
  }
  return undefined;
}

/** A function does not use a project again that it has found removed. */
function removedStaysRemoved({ world }: Report): string | undefined {
  return world.revivals.length > 0 ? `${world.revivals[0]} is found again` : undefined;
}

/** Of the two key pairs of a project, the wrong one is tried once at most. */
function keyPairIsFound({ world, scenario }: Report): string | undefined {
  if (scenario.commands.some(({ kind }) => kind !== 'limits')) return undefined;
  const refused = world.attempts.filter(({ isMismatch }) => isMismatch);
  const byPush = grouped(refused, (at) => `${at.path} of ${at.notificationId} by ${at.run}`);
  for (const [push, attempts] of byPush) {
    if (attempts.length > 1) return `${push} tries a wrong key pair ${attempts.length} times`;
  }
  return undefined;
}

/** What a removal may remove. @param by the start of the name of its function or command. */
function removalsAreOf(
  { world }: Report,
  by: string,
  mayRemove: (path: string, stored: StoredRegistration) => boolean,
): string | undefined {
  for (const [path, history] of world.registrations) {
    for (const [index, one] of history.entries()) {
      const before = history[index - 1]?.stored;
      if (one.stored !== undefined || before === undefined || !one.by?.startsWith(by)) continue;
      if (!mayRemove(path, before)) return `${path} is removed as ${JSON.stringify(before)}`;
    }
  }
  return undefined;
}

/** The removal of a device removes no other one, and none that has passed to another user. */
function onlyTheDeviceIsRemoved(report: Report): string | undefined {
  return removalsAreOf(report, 'removeDevice', (path, { user }) =>
    report.scenario.deviceRemovals.some((one) => one.path === path && one.userId === user),
  );
}

/** Pruning keeps what was updated since the time that the operator names. */
function pruneRemovesOnlyUnseen(report: Report): string | undefined {
  const command = report.scenario.commands.find(({ kind }) => kind === 'prune');
  return removalsAreOf(
    report,
    'operator: prune',
    (_, { updatedAt }) => command?.kind === 'prune' && updatedAt < command.before,
  );
}

/** Dropping a key pair removes the subscriptions that are stored with it, and no others. */
function dropRemovesOnlyItsPair(report: Report): string | undefined {
  return removalsAreOf(report, 'operator: drop', (_, { pair }) => pair === 0);
}

/** The owner of a deleted project neither sees nor changes a later one of the same id. */
function successorIsUntouched({ world, trespasses }: Report): string | undefined {
  if (trespasses.length > 0) return trespasses[0];
  for (const [path, history] of world.registrations) {
    const isForeign = ({ stored }: (typeof history)[number]) => stored === undefined;
    if (path.startsWith('/successor') && history.some(isForeign)) return `${path} is removed`;
  }
  return undefined;
}

/** No function asks the database again and again without a pause. */
function callsAreFew({ world }: Report): string | undefined {
  for (const [call, times] of world.calls) {
    // They read and delete page after page.
    if (call.startsWith('operator')) continue;
    const inOrder = times.toSorted((one, other) => one - other);
    for (const [index, at] of inOrder.entries()) {
      const first = inOrder[index - mostCallsPerSecond];
      if (first !== undefined && at - first < 1000) {
        return `${call} is made ${mostCallsPerSecond} times within ${at - first} ms`;
      }
    }
  }
  return undefined;
}

export const invariants = {
  pushedOnce,
  onlyAudienceIsPushed,
  noPushAfterItsTime,
  asyncReachesEveryone,
  attemptsAreUsed,
  waitingReachesEveryone,
  repetitionResumes,
  interruptedMeansLost,
  everyoneIsCounted,
  attemptedMeansPushed,
  countsAddUp,
  slicesAddUpToResponse,
  monthCounterIsExact,
  subscriberCountersAreExact,
  capIsReached,
  acceptedIsStored,
  errorMeansNothingWasSent,
  countsAreTrue,
  textsAreTheirOwn,
  reachedIsTrue,
  repeatedIsSentOnce,
  respondsInTime,
  everyNotificationEnds,
  statusIsFinal,
  noPushAfterStop,
  stoppedIsFinal,
  deletedProjectIsSilent,
  deletedProjectLeavesNothing,
  newestRegistrationIsStored,
  removedStaysRemoved,
  keyPairIsFound,
  dropRemovesOnlyItsPair,
  onlyTheDeviceIsRemoved,
  pruneRemovesOnlyUnseen,
  successorIsUntouched,
  callsAreFew,
} as const satisfies Record<string, Invariant>;

export type InvariantName = keyof typeof invariants;

export interface Violation {
  readonly invariant: InvariantName;
  readonly message: string;
}

export function violations(report: Report): Violation[] {
  return Object.entries(invariants).flatMap(([name, invariant]) => {
    const message = invariant(report);
    return message === undefined ? [] : [{ invariant: name as InvariantName, message }];
  });
}

/** Whether another request got a response for this notification. */
function isAnsweredByAnother({ responses }: Report, id: string, call: Call): boolean {
  return responses.some(
    ({ call: other, outcome }) =>
      other !== call &&
      ((outcome.kind === 'sent' && outcome.result.id === id) ||
        (outcome.kind === 'accepted' && outcome.id === id) ||
        outcome.kind === 'gateway_error'),
  );
}
