import type {
  NotificationList,
  NotificationResult,
} from '../../../contract/schemas/notification.ts';
import { countOf, countText, rateText, timeText } from '../format.ts';

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

/** `480 subscribers at the latest broadcast, 500 at the first one.` @param broadcasts at least one. */
export function audienceHistoryText(broadcasts: readonly NotificationResult[]): string {
  const [first, latest] = [broadcasts[0]!, broadcasts.at(-1)!];
  const now = `${countOf(latest.attempted, 'subscriber')} at the latest broadcast`;
  return broadcasts.length === 1
    ? `${now}.`
    : `${now}, ${countText(first.attempted)} at the first one.`;
}

/** `98 % at the latest broadcast, 99 % over all of them. 1 reached nobody.` @param broadcasts at least one. */
export function rateHistoryText(broadcasts: readonly NotificationResult[]): string {
  const pushed = broadcasts.filter(({ attempted }) => attempted > 0);
  const latest = pushed.at(-1);
  if (latest === undefined) return 'Nobody was subscribed.';
  const sum = (name: 'attempted' | 'delivered') =>
    pushed.reduce((total, broadcast) => total + broadcast[name], 0);
  const all = rateText(sum('delivered'), sum('attempted'));
  const nobody = pushed.filter(({ delivered }) => delivered === 0).length;
  return `${deliveryRateText(latest)} at the latest broadcast, ${all} over all of them. ${countText(nobody)} reached nobody.`;
}

/** `12 broadcasts among the latest 100 notifications, since Nov 3, 2026.` */
export function scopeText(
  broadcasts: number,
  { notifications, nextCursor }: NotificationList,
): string {
  const found = countOf(broadcasts, 'complete broadcast');
  if (nextCursor === undefined) return `${found} among all notifications of the last 90 days.`;
  const since = timeText(notifications.at(-1)!.sentAt);
  return `${found} among the latest ${countText(notifications.length)} notifications, since ${since}.`;
}

/** The delivered part of the audience, from 0 to 1. */
export function rateOf({ attempted, delivered }: NotificationResult): number {
  return attempted === 0 ? 0 : delivered / attempted;
}

export function deliveryRateText({ attempted, delivered }: NotificationResult): string {
  return rateText(delivered, attempted) || '–';
}
