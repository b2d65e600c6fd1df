import { countText } from '../../contract/count-text.ts';
import { deliveryVerdict, type Judged, type Tone } from '../../contract/delivery-verdict.ts';
import { audienceText } from '../../contract/openapi/audience-text.ts';
import type { NotificationResult, SendResult } from '../../contract/schemas/notification.ts';
import { fieldLines } from '../terminal/fields.ts';
import { printable } from '../terminal/printable.ts';
import { table, truncate } from '../terminal/table.ts';
import type { Paint } from '../terminal/terminal.ts';
import { formatTime } from './project-view.ts';

/** A notification's counts, one per line, and what became of it unless that is good. */
export function notificationText(notification: NotificationResult, paint: Paint): string {
  const { id, title, status, sentAt } = notification;
  const { attempted, delivered, removed, unreached = 0, shown, clicked } = notification;
  const fields: readonly (readonly [label: string, value: string | undefined])[] = [
    ['Title', printable(title)],
    ['Sent', `${formatTime(sentAt)} to ${audienceText(notification)}`],
    ['Status', status],
    ['Attempted', countText(attempted)],
    ['Delivered', withRate(delivered, attempted)],
    ['Removed', countText(removed)],
    ['Failed', failedText(notification)],
    ['Unreached', unreached > 0 ? countText(unreached) : undefined],
    ['Shown', withRate(shown, delivered)],
    ['Clicked', withRate(clicked, shown)],
  ];
  return `${paint('bold', id)}\n${fieldLines(fields, paint)}${verdictText(notification, paint)}`;
}

/** Notifications with their counts, one per line. */
export function notificationTable(
  notifications: readonly NotificationResult[],
  paint: Paint,
): string {
  const rows = notifications.map((notification) => row(notification, paint));
  return table(columns, rows, paint);
}

const columns = [
  { title: 'sent' },
  { title: 'title' },
  { title: 'to' },
  { title: 'status' },
  { title: 'attempted', align: 'right' },
  { title: 'delivered', align: 'right' },
  { title: 'removed', align: 'right' },
  { title: 'failed', align: 'right' },
  { title: 'shown', align: 'right' },
  { title: 'clicked', align: 'right' },
  { title: 'id' },
] as const;

function row(notification: NotificationResult, paint: Paint): string[] {
  const { id, title, status, sentAt } = notification;
  const { attempted, delivered, removed, failed, shown, clicked } = notification;
  const { tone, label = status } = deliveryVerdict(notification);
  return [
    formatTime(sentAt),
    truncate(printable(title), titleLengthCharacters),
    audienceText(notification),
    paint(styles[tone], label),
    countText(attempted),
    withRate(delivered, attempted),
    withRate(removed, attempted),
    withRate(failed, attempted),
    withRate(shown, delivered),
    withRate(clicked, shown),
    id,
  ];
}

const styles = {
  good: 'reset',
  neutral: 'dim',
  warning: 'yellow',
  bad: 'red',
} as const satisfies Record<Tone, string>;

/** Sentences about a notification that is not good news, and what to do. */
export function verdictText(result: Judged, paint: Paint): string {
  const { tone, text, advice } = deliveryVerdict(result);
  if (tone === 'good') return '';
  return [paint(styles[tone], text), ...(advice === undefined ? [] : [advice])]
    .join('\n')
    .concat('\n');
}

/** Longest title in the table. */
const titleLengthCharacters = 30;

/** `3  timeout 2  rejected 1`. */
export function failedText({
  failed,
  failures = {},
}: Pick<SendResult, 'failed' | 'failures'>): string {
  const reasons = Object.entries(failures).map(
    ([reason, count]) => `${reason} ${countText(count)}`,
  );
  return [countText(failed), ...reasons].join('  ');
}

/** `950 (95.0%)`. Without a rate if there is nothing to compare the count with. */
function withRate(count: number, of: number): string {
  if (of === 0) return countText(count);
  return `${countText(count)} (${((100 * count) / of).toFixed(1)}%)`;
}
