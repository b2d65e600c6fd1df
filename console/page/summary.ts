import { countText } from '../../contract/text/text.ts';
import type { NotificationList, NotificationResult } from '../../contract/wire/notification.ts';
import { isInProgress } from '../../contract/wire/notification-status.ts';
import type { ProjectResult } from '../../contract/wire/project-result.ts';
import {
  audienceSize,
  deliveryVerdict,
  isRemovalNoticeable,
  lostOf,
  needsAttention,
  type OutcomeWord,
} from '../../contract/wording/delivery-verdict.ts';
import { dateText, dayMs, monthEndText } from './format.ts';

/** What the overview says of a project and the latest of its notifications. */

/** Tests are in no rate and no notice. */
export function withoutTests(list: NotificationList): NotificationList {
  return { ...list, notifications: list.notifications.filter(({ test }) => !test) };
}

/** The last broadcasts that have ended and had an audience, the oldest first. */
export function lastBroadcasts(list: NotificationList, most: number) {
  const hasEnded = (one: NotificationResult) =>
    one.audience === 'everyone' && !isInProgress(one.status) && audienceSize(one) > 0;
  return list.notifications.filter(hasEnded).slice(0, most).reverse();
}

/**
 * By how many the subscribers have grown since the last broadcast that is 30 days old, or else 7 days. Only one that was
 * attempted for everyone tells how many there were. Undefined if none is that old.
 */
export function growthOf(
  { notifications }: NotificationList,
  subscribers: number,
  nowMs: number,
): { readonly growth: number; readonly since: string } | undefined {
  const broadcasts = notifications.filter(
    ({ audience, status, unreached }) =>
      audience === 'everyone' && status === 'sent' && unreached === undefined,
  );
  const [then] = [30, 7].flatMap(
    (days) => broadcasts.find(({ sentAt }) => Date.parse(sentAt) <= nowMs - days * dayMs) ?? [],
  );
  if (then === undefined) return undefined;
  // It removed those that were gone.
  const growth = subscribers - (then.attempted - then.removed);
  return { growth, since: dateText(then.sentAt, nowMs) };
}

/**
 * The counts of all notifications of the last 30 days that have ended, as far as the list goes. `measured` are delivered
 * with events: `shown` and `clicked` are of these.
 */
export function monthOf(list: NotificationList, nowMs: number) {
  const { notifications, nextCursor } = withoutTests(list);
  const startMs = nowMs - 30 * dayMs;
  const recent = notifications.filter(({ sentAt }) => Date.parse(sentAt) >= startMs);
  const sum = { pushes: 0, delivered: 0, removed: 0, measured: 0, shown: 0, clicked: 0 };
  for (const one of recent.filter(({ status }) => !isInProgress(status))) {
    sum.pushes += audienceSize(one);
    sum.delivered += one.delivered;
    sum.removed += one.removed;
    if (one.shown === null || one.clicked === null) continue;
    sum.measured += one.delivered;
    sum.shown += one.shown;
    sum.clicked += one.clicked;
  }
  const isCut = recent.length === notifications.length && nextCursor !== undefined;
  return {
    ...sum,
    /** Present if some of `shown` was estimated. */
    shownSample: recent.find((one) => one.shownSample !== undefined)?.shownSample,
    period: isCut ? `since ${dateText(recent.at(-1)!.sentAt, nowMs)}` : 'last 30 days',
  };
}

/** What somebody should know first. */
export interface Notice {
  readonly title: string;
  readonly text: string;
  readonly tone: 'warning' | 'bad';
  /** Id of the notification that it is about. Absent: it is about a limit. */
  readonly notificationId?: string;
}

/** From this part of a limit on, it is said. */
const nearLimit = 0.8;

const lossTexts: Readonly<Partial<Record<OutcomeWord, string>>> = {
  Interrupted: 'was interrupted',
  Failed: 'reached nobody',
};

/** The most urgent notice: a limit that is reached, the latest notification if part of it was lost, a limit that is near. */
export function noticeOf(
  { subscribers, subscriberCap, sentThisMonth, monthlySendCap, month }: ProjectResult,
  list: NotificationList,
  nowMs: number,
): Notice | undefined {
  const limits = [
    {
      limit: `${countText(subscriberCap ?? 0)} subscribers`,
      part: subscribers / (subscriberCap ?? Infinity),
      consequence: 'Carillon refuses new ones until the operator raises it.',
    },
    {
      limit: `${countText(monthlySendCap ?? 0)} notifications in a month`,
      part: sentThisMonth / (monthlySendCap ?? Infinity),
      consequence: `Carillon refuses more until ${monthEndText(month)} (UTC), or until the operator raises it.`,
    },
  ];
  const reached = limits.find(({ part }) => part >= 1);
  if (reached !== undefined) {
    const title = `The limit of ${reached.limit} is reached.`;
    return { title, text: reached.consequence, tone: 'bad' };
  }
  const latest = withoutTests(list).notifications.find(({ status }) => !isInProgress(status));
  if (latest !== undefined && Date.parse(latest.sentAt) > nowMs - 7 * dayMs) {
    const { id: notificationId, title, removed } = latest;
    const { word, tone } = deliveryVerdict(latest);
    const size = countText(audienceSize(latest));
    if (needsAttention(latest)) {
      return {
        title: `“${title}” ${lossTexts[word] ?? 'did not reach everyone'}.`,
        text: `${countText(lostOf(latest))} of ${size} did not get it.`,
        tone: tone === 'bad' ? 'bad' : 'warning',
        notificationId,
      };
    }
    if (isRemovalNoticeable(latest)) {
      return {
        title: `Of ${size} subscribers of “${title}”, ${countText(removed)} were gone.`,
        text: 'Push services said so, and they were removed.',
        tone: 'warning',
        notificationId,
      };
    }
  }
  const near = limits.find(({ part }) => part >= nearLimit);
  if (near === undefined) return undefined;
  const percent = Math.floor(100 * near.part);
  const title = `The limit of ${near.limit} is near: ${percent} % are used.`;
  return { title, text: '', tone: 'warning' };
}
