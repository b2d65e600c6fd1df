import { sendTimeline, sliceTimeline } from '../../../contract/infrastructure/delivery.ts';
import { isInProgress } from '../../../contract/wire/notification-status.ts';
import { projectCacheMs } from '../../../lambdas/store/projects.ts';
import { functionsOf } from '../lambda.ts';
import {
  attemptsOf,
  callOf,
  callsOf,
  clockDifferenceMs,
  countsText,
  created,
  firstFinal,
  grouped,
  isCutShort,
  leftOutOf,
  sentAtOf,
  slicesOf,
} from '../report.ts';
import type { Report, Response } from '../simulation.ts';
import {
  type EndedRun,
  everyone,
  type SliceFate,
  type SliceVersion,
  type World,
} from '../world.ts';
import {
  holds,
  nothing,
  ofNotifications,
  removed,
  stopped,
  type Verdict,
  verdict,
} from './verdicts.ts';

/** Of one kind and one function. */
const mostCallsPerSecond = 20;

/** Ms until the first push of a slice if nothing goes wrong: its request waits for Lambda, and begins. */
const startMs = 6000;

/** Pushes fewer than the pace allows: those of the last second, and retries. */
const sparePushes = 3;

/** Ms from the last look at the slices, and the writes after it, to the response. */
const lookedBeforeMs = 5000;

const died = nothing('its function died');

function hasDied({ body, status }: Response): boolean {
  return body.error === undefined && status >= 500;
}

/** The function of a request, and its name; empty if none has started. */
function runOf({ ended }: World, requestId: string): readonly [name?: string, run?: EndedRun] {
  const isOfIt = ([name, run]: [string, EndedRun]) =>
    name.startsWith('send ') && run.requestId === requestId;
  return [...ended].find(isOfIt) ?? [];
}

/** A response comes in time, or as soon as its function no longer stands still. No function runs into its time-out. */
function respondsInTime({ responses, world }: Report): Verdict[] {
  const { endMs, timeoutMs } = sendTimeline;
  const verdicts = responses.map((response): Verdict => {
    const { call, afterMs, startedAfterMs } = response;
    if (hasDied(response)) return died;
    if (startedAfterMs > endMs) return nothing('its function started too late');
    const [, run] = runOf(world, call.requestId);
    const pausedMs = (run?.pause?.to ?? 0) - world.startsAt - call.at;
    return verdict(
      afterMs <= Math.max(timeoutMs, pausedMs + timeoutMs - endMs),
      () => `${call.requestId} takes ${afterMs} ms`,
    );
  });
  return [...verdicts, ...world.timeOuts.map((run) => ({ broken: `${run} does not end in time` }))];
}

/** No response says that the service has a fault. */
function noInternalError({ responses }: Report): Verdict[] {
  return responses.map(({ call, body }) =>
    verdict(
      body.error?.code !== 'internal_error',
      () => `${call.requestId}: ${body.error!.message}`,
    ),
  );
}

/** The notification of a 201 or 202 is stored. */
function namedIsStored({ responses, world }: Report): Verdict[] {
  const successes = responses.filter(({ status }) => status === 201 || status === 202);
  return successes.map(({ id, stored, call }) => {
    if (world.removedAt !== undefined) return removed;
    return verdict(stored !== undefined, () => `${id} of ${call.requestId} is not stored`);
  });
}

/** What a 201 says is what is stored, when it leaves and for ever, reasons included. */
function createdIsFinal(report: Report): Verdict[] {
  return created(report).flatMap(({ body, stored, call }) => {
    const { id, status } = body;
    if (isCutShort(report, id) || stored === undefined) return removed;
    const told = countsText(body);
    const final = report.notifications.find((one) => one.id === id)!;
    const differs = (when: string, is: typeof final) =>
      verdict(
        countsText(is) === told,
        () => `${call.requestId} is told ${told}; ${when} ${id} has ${countsText(is)}`,
      );
    const isStopped = verdict(
      (final.status === 'stopped') === (status === 'stopped'),
      () => `${call.requestId} is told ${status}, and ${id} is ${final.status}`,
    );
    return [differs('then', stored), differs('at the end', final), isStopped];
  });
}

/**
 * A 201 has attempted somebody, unless nobody was there any more or it was stopped: one that was interrupted stays so.
 */
function createdHasAttempted(report: Report): Verdict[] {
  return created(report).map(({ body: { id, attempted, unreached = 0, status }, call, at }) => {
    const { userIds, recipients, channels, seenWithinDays } = call.request;
    const isOfUsers = userIds !== undefined || recipients !== undefined;
    // A chunk is smaller than all devices of a user here, and conditions hold of none that it has.
    if (attempted === 0 && isOfUsers && (channels ?? seenWithinDays) !== undefined) {
      return nothing('nobody met the conditions');
    }
    const isStopped =
      status === 'stopped' ||
      report.stops.some((stop) => stop.notification.id === id && stop.at <= at);
    return verdict(
      attempted > 0 || unreached <= leftOutOf(report, id) || isStopped,
      () => `${call.requestId}: 201, and nobody of ${unreached} was attempted`,
    );
  });
}

/**
 * An error says that nothing was sent, and then nothing is, ever: no push, no notification, no unit. Or that the send
 * is kept for a repetition, because the database was away to the end of its function, or faults left less time than a
 * slice needs to begin; then nobody was attempted until then. Or that the outcome is unknown.
 */
function errorsAreTrue(report: Report): Verdict[] {
  const { world, notifications } = report;
  return report.responses.flatMap((response) => {
    const { call, body, at, startedAfterMs } = response;
    const { requestId } = call;
    const { code, message = '' } = body.error ?? {};
    // The first request with its key is another one.
    if (code === undefined || code === 'request_in_progress') return [];
    if (code === 'outcome_unknown') return outcomeIsUnknown(report, response);
    const what = `${requestId}: ${code}`;
    const isKept = message.includes('may count against the month');
    // It does not say "this request": then it speaks of the others with its key too.
    const isOfAll = /nothing was sent/i.test(message);
    const pushed = world.attempts.filter(
      (attempt) =>
        (attempt.requestId === requestId && (!isKept || attempt.startedAt <= at)) ||
        (isOfAll &&
          attempt.startedAt <= at &&
          callsOf(report, attempt.notificationId).includes(call)),
    ).length;
    const made = [...world.requestOf].filter(([, by]) => by === requestId).map(([id]) => id);
    const [, run] = runOf(world, requestId);
    const from = world.startsAt + call.at + startedAfterMs;
    const leftMs = world.undisturbedMs([everyone, requestId], { from, to: at });
    return [
      verdict(pushed === 0, () => `${what}, and it made ${pushed} pushes`),
      verdict(
        !isKept || run === undefined || run.isWithoutDatabase || leftMs < startMs,
        () => `${what}: the send is kept, and the database was there for ${leftMs} ms`,
      ),
      ...made.map((id) => {
        if (world.removedAt !== undefined) return removed;
        const isStored = notifications.some((one) => one.id === id);
        return verdict(isKept || !isStored, () => `${what}, and ${id} is stored`);
      }),
    ];
  });
}

/**
 * Somebody may have been attempted, and something was not over when the request looked last, or a fault kept it from
 * looking.
 */
function outcomeIsUnknown(report: Report, { call, id, at }: Response): Verdict[] {
  const what = `${call.requestId}: outcome_unknown`;
  const isNamed = verdict(id !== undefined, () => `${what}, and no Location`);
  if (id === undefined || isCutShort(report, id)) return [isNamed];
  const slices = slicesOf(report, id);
  const overAt = Math.max(
    ...slices.map((versions) => versions.find(({ item }) => item.ended)?.at ?? Infinity),
  );
  const span = { from: at - lookedBeforeMs, to: at };
  const hasLooked = report.world.undisturbedMs([call.requestId], span) === lookedBeforeMs;
  const isOpen = overAt > span.from;
  return [
    isNamed,
    isOpen || hasLooked
      ? verdict(isOpen, () => `${what}, and all is over since ${at - overAt} ms`)
      : nothing('a fault kept it from looking'),
    verdict(
      report.world.startedIds.has(id) ||
        slices.some((versions) => versions.some((one) => isLeased(one) && one.at <= at)),
      () => `${what}, and nobody has had a slice, nor was a function started`,
    ),
  ];
}

function isLeased({ item }: SliceVersion): boolean {
  return item.leasedBy !== undefined;
}

/**
 * A 202 ends as `sent`, unless it is stopped. A slice of it does not end only if Lambda has lost it: all of its
 * events, one that got too old, or its last attempt, whose function died or lost the database.
 */
function acceptedEndsSent(report: Report): Verdict[] {
  const { responses, notifications, world } = report;
  const accepted = responses.filter(({ status }) => status === 202);
  return accepted.flatMap(({ call, id }) => {
    const notification = notifications.find((one) => one.id === id);
    if (notification === undefined || isCutShort(report, id!)) return removed;
    if (notification.status === 'stopped') return stopped;
    return slicesOf(report, id!).map((versions, slice) => {
      if (versions.at(-1)?.item.ended !== undefined) return holds;
      if (isLost(world.fates.get(`${id}/${slice}`))) return nothing('Lambda has lost a slice');
      return { broken: `${call.requestId}: 202, and slice ${slice} of ${id} never ends` };
    });
  });
}

function isLost(fate: SliceFate | undefined): boolean {
  if (fate === undefined) return false;
  const { accepted, events, givenUp } = fate;
  const hasLostAll = accepted > 0 && events === 0;
  return hasLostAll || (givenUp.length > 0 && !givenUp.includes('failed'));
}

/**
 * Of a send that does not wait, nobody is unreached while it has time: only its third attempt, or one that began half an
 * hour after it, gives up.
 */
function asyncReachesEveryone(report: Report): Verdict[] {
  return ofNotifications(report, ({ id, status }) => {
    if (!callOf(report, id).respondAsync) return [];
    if (status === 'stopped') return stopped;
    return slicesOf(report, id).flatMap((versions) => {
      const last = versions.at(-1);
      if (last === undefined) return [];
      if (last.item.ended === undefined) return nothing('Lambda has lost a slice');
      const isReached = hasReachedAll(report, id, last);
      if (!isReached && isLastAttempt(report, versions)) return nothing('its time was over');
      return verdict(isReached, () => `${last.item.id}: not everyone is reached`);
    });
  });
}

/** Whether all of a slice was read, and nobody is unreached but those who are left out at once. */
function hasReachedAll(report: Report, id: string, { item }: SliceVersion): boolean {
  return item.isRead === true && Number(item.unreached ?? 0) <= leftOutOf(report, id);
}

function isLastAttempt({ world }: Report, versions: readonly SliceVersion[]): boolean {
  const { item, holder } = versions.at(-1)!;
  const { from } = world.ended.get(holder!)!;
  const [id] = (item.id as string).split('/');
  const lastFrom = sentAtOf(id!) + sliceTimeline.lastAttemptAfterMs - clockDifferenceMs;
  return (item.attempts as number) >= sliceTimeline.attempts || from >= lastFrom;
}

/**
 * Of a send that waits, nobody is unreached before the time is over, or while the pace allows: in the seconds that no
 * fault has taken, who delivers the slice of somebody unreached makes the pushes of its pace. A request delivers slices
 * that no function has begun one after another.
 */
function waitingUsesItsTime(report: Report): Verdict[] {
  const { world, scenario, responses } = report;
  return ofNotifications(report, ({ id, status }) => {
    const own = callOf(report, id);
    if (own.respondAsync) return [];
    if (status === 'stopped') return stopped;
    if (created(report).every(({ body }) => body.id !== id))
      return nothing('no response has its counts');
    const calls = callsOf(report, id);
    const slices = slicesOf(report, id);
    return slices.map((versions, slice) => {
      const last = versions.findLast(isLeased);
      if (last?.item.ended !== undefined && hasReachedAll(report, id, last)) return holds;
      const by = world.ended.get(last?.holder ?? '')?.requestId;
      const request = calls.find(({ requestId }) => requestId === by) ?? own;
      const startedAfterMs = responses.find(({ call }) => call === request)?.startedAfterMs ?? 0;
      const at = world.startsAt + request.at;
      const ms = world.undisturbedMs([everyone, ...calls.map(({ requestId }) => requestId)], {
        from: at + startedAfterMs + startMs,
        to: at + sendTimeline.lastPushMs - clockDifferenceMs,
      });
      const due = Math.floor(((ms / 1000) * scenario.pushesPerSecond) / slices.length);
      const [requestRun] = runOf(world, request.requestId);
      const deliveredBy = last?.holder ?? requestRun;
      const made = attemptsOf(report, id).filter(
        (attempt) => attempt.slice === slice || attempt.run === deliveredBy,
      ).length;
      return verdict(
        made >= due - sparePushes,
        () => `${id}/${slice}: not everyone is reached after ${made} pushes in ${ms} ms`,
      );
    });
  });
}

/** An attempt of Lambda ends with an error only if its function dies or its time is over. */
function attemptsAreUsed({ world }: Report): Verdict[] {
  return [{ broken: world.wasted[0] }];
}

/** Requests with one key and one body make at most one notification, and get the same counts. */
function repeatedIsSentOnce(report: Report): Verdict[] {
  const { scenario, world, notifications } = report;
  const keyed = scenario.calls.filter(({ idempotencyKey }) => idempotencyKey !== undefined);
  const byKey = grouped(keyed, ({ idempotencyKey }) => idempotencyKey!);
  return [...byKey].flatMap(([key, calls]) => {
    const requests = new Set(calls.map(({ requestId }) => requestId));
    const made = [...world.requestOf].filter(([, by]) => requests.has(by)).map(([id]) => id);
    const pushed = made.filter((id) => attemptsOf(report, id).length > 0);
    const stored = made.filter((id) => notifications.some((one) => one.id === id));
    const results = created(report).filter(({ call }) => requests.has(call.requestId));
    const texts = new Set(
      results.map(({ body }) => `${body.id} ${countsText(body)} ${body.usersNotReached}`),
    );
    return [
      verdict(pushed.length <= 1, () => `${key}: ${pushed} were pushed`),
      verdict(stored.length <= 1, () => `${key}: ${stored} are stored`),
      verdict(texts.size <= 1, () => `${key}: responses ${[...texts].join(' and ')}`),
    ];
  });
}

/** A repetition that comes when nobody may work on the send, and nothing fails, is not sent back. */
function repetitionEnds(report: Report): Verdict[] {
  const { world, responses, scenario } = report;
  return responses.flatMap(({ call, at, afterMs, status }) => {
    const same = scenario.calls.filter(
      ({ idempotencyKey }) =>
        idempotencyKey !== undefined && idempotencyKey === call.idempotencyKey,
    );
    const isMade = ([, by]: [string, string]) => same.some(({ requestId }) => requestId === by);
    const id = [...world.requestOf].find(isMade)?.[0];
    if (id === undefined || isCutShort(report, id)) return [];
    const from = at - afterMs;
    // Also one that came a moment later, and began the send first.
    const others = same.filter((other) => other !== call && world.startsAt + other.at < at);
    // A request owns the send for its time from when it has read the audience, which faults may delay.
    const isAlone = others.every((other) => {
      const told = responses.find((response) => response.call === other);
      const startedAt = world.startsAt + other.at + (told?.startedAfterMs ?? 0);
      const span = { from: startedAt, to: startedAt + sendTimeline.timeoutMs };
      const lateMs = sendTimeline.timeoutMs - world.undisturbedMs([other.requestId], span);
      return from - startedAt - lateMs > sendTimeline.timeoutMs + 2 * clockDifferenceMs;
    });
    const isFree = slicesOf(report, id).every((versions) => {
      const until = versions.findLast((one) => one.at < from)?.item.leasedUntil as
        | number
        | undefined;
      return until === undefined || until < from - 2 * clockDifferenceMs;
    });
    if (others.length === 0 || !isAlone || !isFree) return [];
    const own = [call.requestId, functionsOf(call.requestId)];
    if (world.undisturbedMs(own, { from, to: at }) < afterMs) {
      return nothing('a fault took its time');
    }
    return verdict(status !== 409, () => `${call.requestId}: 409, and nobody works on ${id}`);
  });
}

function everyNotificationEnds(report: Report): Verdict[] {
  return ofNotifications(report, ({ id, status }) =>
    verdict(!isInProgress(status), () => `${id} is ${status} for ever`),
  );
}

/** What a notification has become it stays, unless a repetition continues one that was interrupted. */
function statusIsFinal(report: Report): Verdict[] {
  return report.notifications.flatMap(({ id, status }) => {
    const earlier = firstFinal(report, id)?.result.status;
    if (earlier === undefined) return [];
    if (earlier === 'interrupted' && callsOf(report, id).length > 1) {
      return nothing('a repetition may have continued it');
    }
    return verdict(earlier === status, () => `${id} was ${earlier}, and is ${status} now`);
  });
}

/** What is stopped stays so, with its counts from the end of its last lease. */
function stoppedIsFinal(report: Report): Verdict[] {
  return report.stops.flatMap(({ notification: { id, status } }) => {
    const final = report.notifications.find((one) => one.id === id);
    if (final === undefined || isCutShort(report, id)) return removed;
    const isStopped = status === 'stopping' || status === 'stopped';
    const isSame = verdict(
      final.status === (isStopped ? 'stopped' : status),
      () => `${id} was ${status} when it was stopped, and is ${final.status} now`,
    );
    const then = report.history.get(id)?.find(({ result }) => result.status === 'stopped')?.result;
    if (!isStopped || then === undefined) return isSame;
    const isFinal = verdict(
      countsText(then) === countsText(final),
      () => `${id} was stopped with ${countsText(then)}, and has ${countsText(final)} now`,
    );
    return [isSame, isFinal];
  });
}

/** A key that was revoked is refused half a minute later, also by functions that were frozen meanwhile. */
function revokedKeyIsRefused({ world, responses }: Report): Verdict[] {
  const { revokedAt = Number.POSITIVE_INFINITY, startsAt } = world;
  const since = revokedAt + projectCacheMs + clockDifferenceMs;
  const late = responses.filter(
    ({ call, startedAfterMs }) =>
      call.sender === 'member' && startsAt + call.at + startedAfterMs >= since,
  );
  return late.map((response) => {
    const { call, status } = response;
    if (hasDied(response)) return died;
    const isRefused = status === 401 || status === 503;
    return verdict(isRefused, () => `${call.requestId}: ${status}, with a key that was revoked`);
  });
}

/** No function asks the database again and again without a pause. */
function callsAreFew({ world, scenario }: Report): Verdict[] {
  if (scenario.isSlow) return [nothing('chunks of a slow delivery are nearly empty here')];
  // The operator's commands read and delete page after page.
  const ofFunctions = [...world.calls].filter(([call]) => !call.startsWith('operator'));
  return ofFunctions.map(([call, times]) => {
    const isOften = times.some((at, index) => at - (times[index - mostCallsPerSecond] ?? 0) < 1000);
    return verdict(!isOften, () => `${call} is made ${mostCallsPerSecond} times within a second`);
  });
}

export const responses = {
  respondsInTime,
  noInternalError,
  namedIsStored,
  createdIsFinal,
  createdHasAttempted,
  errorsAreTrue,
  acceptedEndsSent,
  asyncReachesEveryone,
  waitingUsesItsTime,
  attemptsAreUsed,
  repeatedIsSentOnce,
  repetitionEnds,
  everyNotificationEnds,
  statusIsFinal,
  stoppedIsFinal,
  revokedKeyIsRefused,
  callsAreFew,
};
