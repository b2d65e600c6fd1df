import type { NotificationResult } from '../../../contract/wire/notification.ts';
import { isInProgress } from '../../../contract/wire/notification-status.ts';
import { isCutShort } from '../report.ts';
import type { Report } from '../simulation.ts';

/** What an invariant finds of one thing that it is about: what is wrong, or why it says nothing about it. */
export type Verdict = { readonly broken?: string | undefined; readonly except?: string };

/** A sentence that is true of every run, whatever has failed in it: a verdict on each thing that it is about. */
export type Invariant = (report: Report) => Iterable<Verdict>;

export const holds: Verdict = {};

/** @param except names what prevents a verdict. */
export function nothing(except: string): Verdict {
  return { except };
}

/** @param message if it is broken. */
export function verdict(isKept: boolean, message: () => string): Verdict {
  return isKept ? holds : { broken: message() };
}

export const removed = nothing('its project was removed meanwhile');
export const stopped = nothing('it was stopped');

/** Verdicts on the notifications, but for those whose project was removed before they were over. */
export function ofNotifications(
  report: Report,
  judge: (notification: NotificationResult) => Verdict | readonly Verdict[],
): Verdict[] {
  return report.notifications.flatMap((notification) =>
    isCutShort(report, notification.id) ? removed : judge(notification),
  );
}

/** Verdicts on those that are over: the others break `everyNotificationEnds`. */
export function ofFinal(report: Report, judge: Parameters<typeof ofNotifications>[1]): Verdict[] {
  return ofNotifications(report, (one) => (isInProgress(one.status) ? [] : judge(one)));
}
