import { type Conditions, conditionsOf, hasConditions } from '../../contract/conditions.ts';
import { isInProgress } from '../../contract/notification-status.ts';
import type { NotificationResult, SendResult } from '../../contract/schemas/notification.ts';
import { sendTimeline, sliceTimeline } from '../../contract/timeline.ts';
import { usersOf } from '../../lambdas/send/users-of.ts';
import { partPeriods, shareOf, sumOf, utcMonth } from '../../lambdas/store/counters.ts';
import { simulatedConditions } from './conditions.ts';
import { tables } from './database/memory-database.ts';
import type { Browser, Call } from './scenario.ts';
import type { Report } from './simulation.ts';
import type { PushAttempt, StoredRegistration, World } from './world.ts';

/** Says what is wrong, or undefined. */
export type Invariant = (report: Report) => string | undefined;

/** Ms within which pushes end after the deletion of their project. */
const silentAfterMs = 5000;

/** Of one kind and one function. */
const mostCallsPerSecond = 20;

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
function noPushAfterItsTime({ world, scenario, requestOf }: Report): string | undefined {
  const calls = byId(scenario.calls);
  for (const { notificationId, requestId, path, startedAt } of world.attempts) {
    if (calls.get(requestOf.get(notificationId)!)!.respondAsync) continue;
    const afterMs = startedAt - world.startsAt - calls.get(requestId)!.at;
    if (afterMs > sendTimeline.lastPushMs + clockDifferenceMs + 1)
      return `push ${path} starts after ${afterMs} ms`;
  }
  return undefined;
}

/** An asynchronous notification whose functions could be invoked reaches everyone. */
function asyncReachesEveryone(report: Report): string | undefined {
  const { responses, world, notifications, asyncGivenUp, scenario } = report;
  if (asyncGivenUp > 0 || scenario.projectDeletedAt !== undefined) return undefined;
  for (const { outcome, call } of responses) {
    if (outcome.kind !== 'accepted') continue;
    const isLost = scenario.calls.some(
      ({ requestId, idempotencyKey }) =>
        world.notInvoked.has(requestId) &&
        (requestId === call.requestId ||
          (idempotencyKey !== undefined && idempotencyKey === call.idempotencyKey)),
    );
    if (isLost) continue;
    const notification = notifications.find(({ id }) => id === outcome.id);
    if (notification === undefined) return `${outcome.id} was accepted and is not stored`;
    if (notification.status === 'stopped') continue;
    if (notification.status !== 'sent') return `${outcome.id} is ${notification.status}`;
    const { unreached, id } = notification;
    // Of users, those whose browsers pass to others meanwhile.
    const isUsers = usersOf(callOf(report, id).request) !== undefined;
    const changed = scenario.browsers.filter(({ path }) => !isUnchanged(report, path)).length;
    if (unreached !== undefined && !(isUsers && unreached <= changed)) {
      return `${id} has not reached ${unreached}`;
    }
  }
  return undefined;
}

/** Whoever is in the audience from before the request to the end is counted, and attempted if counted so. */
function everyoneIsCounted(report: Report): string | undefined {
  const { notifications, responses, scenario } = report;
  if (scenario.projectDeletedAt !== undefined) return undefined;
  const results: readonly Result[] = [
    ...notifications.filter(
      ({ id, status }) =>
        (status === 'sent' || status === 'stopped') && !report.notRecorded.has(id),
    ),
    ...responses.flatMap(({ outcome }) => (outcome.kind === 'sent' ? [outcome.result] : [])),
  ];
  for (const result of results) {
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
    const { id, status, failures = {}, unreached } = notification;
    if (status !== 'sent' || unreached !== undefined || report.notRecorded.has(id)) continue;
    if (report.scenario.projectDeletedAt !== undefined) continue;
    const pushed = new Set(attemptsOf(report, id).map(({ path }) => path));
    const missing = untouched(report, id).filter(({ path }) => !pushed.has(path));
    const { interrupted = 0, throttled = 0, no_response = 0, unsendable = 0 } = failures;
    const excused = interrupted + throttled + no_response + unsendable;
    if (missing.length > excused) {
      return `${id}: ${missing.map(({ path }) => path)} were not pushed to; ${excused} excused`;
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
    if (outcome.kind !== 'sent' || report.notRecorded.has(outcome.result.id)) continue;
    const returned = outcome.result;
    const stored = report.notifications.find(({ id }) => id === returned.id);
    if (stored === undefined || countsText(stored) === countsText(returned)) continue;
    const isBetterKnown =
      stored.attempted === returned.attempted && stored.failed < returned.failed;
    if (isBetterKnown) continue;
    // A repeated request has continued what the first one has left.
    if (returned.unreached !== undefined && stored.attempted >= returned.attempted) continue;
    return `${stored.id}: stored ${countsText(stored)}, returned ${countsText(returned)}`;
  }
  return undefined;
}

function monthCounterIsExact({ world, scenario, caps }: Report): string | undefined {
  if (scenario.projectDeletedAt !== undefined) return undefined;
  const sent = world.database
    .items(tables.notifications)
    .filter(({ content }) => content !== undefined)
    .map(({ sentAt }) => utcMonth(new Date(sentAt as string)));
  const counted = world.database.items(tables.usage).map(({ period }) => monthIn(period));
  for (const month of new Set([...sent, ...counted])) {
    if (month === undefined) continue;
    const stored = sent.filter((other) => other === month).length;
    const wrong = wrongCounter(world, month, stored, caps.sends);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function subscriberCountersAreExact({ world, caps }: Report): string | undefined {
  const { database } = world;
  const isClosed = !database.items(tables.usage).some(isCounting);
  const stored = database.items(tables.subscriptions).length;
  return isClosed ? undefined : wrongCounter(world, 'subscribers', stored, caps.subscribers);

  function isCounting({ period, used }: Record<string, unknown>): boolean {
    return monthIn(period) === undefined && used !== undefined;
  }
}

/** The month that a part counts; undefined if it counts subscribers. */
function monthIn(period: unknown): string | undefined {
  const [name] = String(period).split('#');
  return name === 'subscribers' ? undefined : name;
}

/** What is wrong with the parts of a counter. @param caps that held for some time. */
function wrongCounter(
  { database }: World,
  name: string,
  stored: number,
  caps: readonly (number | null)[],
) {
  const items = database.items(tables.usage);
  const parts = partPeriods(name).map(
    (one) => items.find(({ period }) => period === one)?.used as number | undefined,
  );
  const counted = sumOf(parts);
  if (counted !== stored) return `${name}: counted ${counted}, stored ${stored}`;
  if (caps.includes(null)) return undefined;
  const cap = Math.max(...(caps as readonly number[]));
  if (stored > cap) return `${name}: ${stored}, above the cap of ${cap}`;
  // Parts took units under the other caps.
  if (caps.length > 1) return undefined;
  const above = parts.findIndex((used = 0, part) => used > shareOf(cap, part));
  return above === -1 ? undefined : `${name}#${above}: ${parts[above]}, above its share of ${cap}`;
}

/** 201 and 202 have a stored notification. */
function acceptedIsStored({ responses, notifications, scenario }: Report): string | undefined {
  if (scenario.projectDeletedAt !== undefined) return undefined;
  for (const { outcome } of responses) {
    const id =
      outcome.kind === 'sent'
        ? outcome.result.id
        : outcome.kind === 'accepted'
          ? outcome.id
          : undefined;
    if (id !== undefined && notifications.every((notification) => notification.id !== id)) {
      return `${id} was accepted and is not stored`;
    }
  }
  return undefined;
}

/** An error means that the request pushed nothing, and took no unit. */
function errorMeansNothingWasSent(report: Report): string | undefined {
  for (const { call, outcome, startedAfterMs } of report.responses) {
    if (outcome.kind !== 'error') continue;
    // Too late to undo what the database has done without a response.
    const isTooLate = startedAfterMs > sendTimeline.pushEndMs - 10_000;
    const hasNoTime = isTooLate || isOutAtTheEnd(report, call);
    if (hasNoTime && isNotCancelled(report, call)) continue;
    if (outcome.code === 'internal_error') return `${call.requestId}: internal error`;
    const pushed = report.world.attempts.filter(({ requestId }) => requestId === call.requestId);
    // Its functions may deliver slices of the first request, whose response has their counts.
    if (outcome.code === 'request_in_progress') continue;
    if (pushed.length > 0 && report.scenario.projectDeletedAt === undefined) {
      return `${call.requestId}: ${outcome.code}, and it made ${pushed.length} pushes`;
    }
    for (const { id } of report.notifications) {
      const isOwn = report.requestOf.get(id) === call.requestId;
      if (!isOwn) continue;
      if (attemptsOf(report, id).length > 0 || isAnsweredByAnother(report, id, call)) continue;
      return `${call.requestId}: ${outcome.code}, and its unit is not returned`;
    }
  }
  return undefined;
}

function isNotCancelled({ notCancelled, requestOf }: Report, { requestId }: Call): boolean {
  return [...notCancelled].some((id) => requestOf.get(id) === requestId);
}

/** Whether DynamoDB refused calls from the middle of a request until its last moment. */
function isOutAtTheEnd({ world }: Report, { at }: Call): boolean {
  const endsAt = world.startsAt + at + sendTimeline.endMs;
  return world.outages.some(({ from, to }) => from < endsAt - 5000 && to > endsAt - 2000);
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
    const heard = accepted.filter(({ isTransient }) => !isTransient).length;
    const { id, attempted, delivered, failed } = result;
    // What another function did could not be read.
    if (report.notRecorded.has(id)) continue;
    if (pushed > attempted) return `${id}: ${pushed} were pushed to, ${attempted} attempted`;
    if (delivered > acceptedPaths) {
      return `${id}: ${acceptedPaths} were accepted, ${delivered} delivered`;
    }
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
    if (userIds === undefined || report.notRecorded.has(id)) continue;
    const accepted = usersWith(id, ({ isAccepted }) => isAccepted);
    const heard = usersWith(
      id,
      ({ isAccepted, isTransient, path }) =>
        isAccepted && !isTransient && isUnchanged(report, path),
    );
    const isOver = status === 'sent' || status === 'stopped';
    const isKnown = isOver && failures.interrupted === undefined;
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
    const isLost = calls.some(({ requestId }) => report.world.notInvoked.has(requestId));
    const isRecorded =
      !isLost &&
      results.every(({ id }) => !report.notRecorded.has(id) && !report.notCancelled.has(id));
    if (texts.size > 1 && isRecorded) return `${key}: responses ${[...texts].join(' and ')}`;
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

function everyNotificationEnds({ notifications }: Report): string | undefined {
  const open = notifications.find(({ status }) => isInProgress(status));
  return open && `${open.id} is ${open.status} for ever`;
}

/** What a notification has become it stays, unless a repeated request continues one that was interrupted. */
function statusIsFinal(report: Report): string | undefined {
  const { history, notifications, notRecorded, scenario } = report;
  for (const { id, status } of notifications) {
    const earlier = history.get(id)?.find((then) => !isInProgress(then.status));
    if (earlier === undefined || earlier.status === status || notRecorded.has(id)) continue;
    const { idempotencyKey } = callOf(report, id);
    const isRepeated =
      idempotencyKey !== undefined &&
      scenario.calls.filter((call) => call.idempotencyKey === idempotencyKey).length > 1;
    if (earlier.status === 'interrupted' && isRepeated) continue;
    return `${id} was ${earlier.status}, and is ${status} now`;
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

/** What is stopped stays so with its counts, and its waiting request is told so. */
function stoppedIsFinal(report: Report): string | undefined {
  const { stops, notifications, responses, history, scenario, notRecorded } = report;
  if (scenario.projectDeletedAt !== undefined) return undefined;
  for (const { notification } of stops) {
    const { id, status } = notification;
    const final = notifications.find((one) => one.id === id);
    if (status === 'stopping' || status === 'stopped') {
      if (final?.status !== 'stopped') return `${id} was ${status}, and is ${final?.status} now`;
      const earlier = history.get(id)?.find((then) => then.status === 'stopped');
      if (earlier !== undefined && countsText(earlier) !== countsText(final)) {
        return `${id} was stopped with ${countsText(earlier)}, and has ${countsText(final)} now`;
      }
    } else if (final !== undefined && final.status !== status) {
      return `${id} was ${status} when it was to be stopped, and is ${final.status} now`;
    }
  }
  for (const { call, outcome, afterMs } of responses) {
    if (outcome.kind !== 'sent' || notRecorded.has(outcome.result.id)) continue;
    const { id, status = 'sent' } = outcome.result;
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

/** What is stored is the browser's last request to subscribe, or a later one that had no response. */
function newestRegistrationIsStored({ world, subscribed, deletedAt }: Report): string | undefined {
  if (deletedAt !== undefined) return undefined;
  for (const [path, requests] of grouped(subscribed, ({ path }) => path)) {
    const stored = world.registrations.get(path)?.at(-1)?.stored;
    if (stored === undefined) continue;
    const last = requests.findLastIndex(({ isAcknowledged }) => isAcknowledged);
    if (last === -1) continue;
    // Of two within the difference of the clocks, nobody knows which is the newer one.
    const newest = requests.filter(({ at }) => at > requests[last]!.at - clockDifferenceMs);
    const possible = newest.map(({ userId, channels }) => `${userId} ${channels}`);
    const found = `${stored.user} ${stored.channels}`;
    if (!possible.includes(found)) return `${path} is ${found}, and not one of ${possible}`;
  }
  return undefined;
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
  everyoneIsCounted,
  attemptedMeansPushed,
  countsAddUp,
  slicesAddUpToResponse,
  monthCounterIsExact,
  subscriberCountersAreExact,
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

type Result = SendResult | NotificationResult;

function resultsOf({ responses, notifications, notRecorded }: Report): Result[] {
  return [
    ...responses.flatMap(({ outcome }) => (outcome.kind === 'sent' ? [outcome.result] : [])),
    ...notifications.filter(({ id }) => !notRecorded.has(id)),
  ];
}

function attemptsOf({ world }: Report, notificationId: string): PushAttempt[] {
  return world.attempts.filter((attempt) => attempt.notificationId === notificationId);
}

function callOf({ scenario, requestOf }: Report, notificationId: string): Call {
  return byId(scenario.calls).get(requestOf.get(notificationId)!)!;
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

/** The browsers in the audience from before the request to the end. */
function untouched(report: Report, notificationId: string): Browser[] {
  return report.scenario.browsers.filter(
    (browser) =>
      !browser.isGone &&
      browser.subscribesAt === 0 &&
      isUnchanged(report, browser.path) &&
      isInAudience(report, browser.path, notificationId, sentAtOf(notificationId) - behindMs),
  );
}

/** Whether the registration of a browser is from beginning to end the same. */
function isUnchanged({ world }: Report, path: string): boolean {
  const [first, ...others] = world.registrations.get(path) ?? [];
  // Another key pair is a correction.
  return others.every(
    ({ stored }) =>
      stored !== undefined &&
      stored.user === first!.stored!.user &&
      String(stored.channels) === String(first!.stored!.channels),
  );
}

/** The users that a browser had at some time in this span. */
function usersOfBrowser({ world }: Report, path: string, from: number, to: number): string[] {
  return world
    .registeredBetween(path, from, to)
    .flatMap((stored) => (stored?.user === undefined ? [] : [stored.user]));
}

/** Whether a browser matched the request of a notification at some time from its begin to a later one. */
function isInAudience(
  report: Report,
  path: string,
  notificationId: string,
  until: number,
): boolean {
  const { world } = report;
  const { request } = callOf(report, notificationId);
  const userIds = usersOf(request)?.userIds;
  const sentAt = sentAtOf(notificationId);
  const conditions = Object.entries(conditionsOf(request));
  return world
    .registeredBetween(path, sentAt - behindMs, until)
    .filter((stored) => stored !== undefined)
    .some(
      (stored) =>
        (userIds === undefined || (stored.user !== undefined && userIds.includes(stored.user))) &&
        conditions.every(([name, value]) =>
          simulatedConditions[name as keyof Conditions].isMet(value as never, stored, sentAt),
        ),
    );
}

/** Most by which the clocks of two functions differ. */
const { clockDifferenceMs } = sliceTimeline;

/** An index, and reads of large audiences, may be a second behind. */
const behindMs = 1000 + clockDifferenceMs;

/** A push for a user starts at most this much later than the browser was the user's. */
const formerUserMs = 2000 + 1;

/** The time in a UUID of version 7: epoch ms. */
function sentAtOf(notificationId: string): number {
  return Number.parseInt(notificationId.replace('-', '').slice(0, 12), 16);
}

function byId(calls: readonly Call[]): Map<string, Call> {
  return new Map(calls.map((call) => [call.requestId, call]));
}

function countsText({ attempted, delivered, removed, failed, unreached = 0 }: Result): string {
  return [attempted, delivered, removed, failed, unreached].join('/');
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string) {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
