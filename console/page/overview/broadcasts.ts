import { countText } from '../../../contract/count-text.ts';
import type {
  NotificationList,
  NotificationResult,
} from '../../../contract/schemas/notification.ts';

/**
 * The broadcasts whose counts tell the audience of that time, the oldest first: to everyone without a condition,
 * and attempted for everyone.
 */
export function broadcastsIn({ notifications }: NotificationList): readonly NotificationResult[] {
  return notifications
    .filter(
      ({ audience, status, unreached }) =>
        audience === 'everyone' && status === 'sent' && unreached === undefined,
    )
    .reverse();
}

/** Subscribers after a broadcast: it removes those that are gone. */
export function audienceAfter({ attempted, removed }: NotificationResult): number {
  return attempted - removed;
}

const dayMs = 24 * 60 * 60 * 1000;

/** `+20 in 7 days`: against the last broadcast before them. Undefined if none is that old. */
export function growthText(
  broadcasts: readonly NotificationResult[],
  subscribers: number,
  days: number,
  nowMs: number,
): string | undefined {
  const then = broadcasts.findLast(({ sentAt }) => Date.parse(sentAt) <= nowMs - days * dayMs);
  if (then === undefined) return undefined;
  const growth = subscribers - audienceAfter(then);
  return `${growth > 0 ? '+' : growth < 0 ? '−' : '±'}${countText(Math.abs(growth))} in ${days} days`;
}

/** The counts of all notifications of the last 30 days. */
export function monthOf({ notifications }: NotificationList, nowMs: number) {
  const sum = { attempted: 0, delivered: 0, shown: 0, clicked: 0 };
  for (const one of notifications) {
    if (Date.parse(one.sentAt) < nowMs - 30 * dayMs) continue;
    for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += one[name];
  }
  return sum;
}
