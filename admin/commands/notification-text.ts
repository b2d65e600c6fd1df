import { countText } from '../../contract/count-text.ts';
import {
  audienceSize,
  audienceText,
  deliveryVerdict,
  type Judged,
  type Tone,
} from '../../contract/delivery-verdict.ts';
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
  const { word } = deliveryVerdict(notification);
  const fields: readonly (readonly [label: string, value: string | undefined])[] = [
    ['Title', printable(title)],
    ['Sent', `${formatTime(sentAt)} to ${audienceText(notification)}`],
    ['Status', `${word} (${status})`],
    ['Attempted', countText(attempted)],
    ['Delivered', withRate(delivered, audienceSize(notification))],
    ['Removed', countText(removed)],
    ['Failed', failedText(notification)],
    ['Unreached', unreached > 0 ? countText(unreached) : undefined],
    ['Shown', withRate(shown, delivered)],
    ['Clicked', withRate(clicked, delivered)],
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
  const { id, title, sentAt } = notification;
  const { attempted, delivered, removed, failed, shown, clicked } = notification;
  const { tone, word } = deliveryVerdict(notification);
  return [
    formatTime(sentAt),
    truncate(printable(title), titleLengthCharacters),
    audienceText(notification),
    paint(styles[tone], word),
    countText(attempted),
    withRate(delivered, audienceSize(notification)),
    withRate(removed, attempted),
    withRate(failed, attempted),
    withRate(shown, delivered),
    withRate(clicked, delivered),
    id,
  ];
}

const styles = {
  info: 'dim',
  good: 'reset',
  neutral: 'dim',
  warning: 'yellow',
  bad: 'red',
} as const satisfies Record<Tone, string>;

/** What became of a notification, unless that is good. */
export function verdictText(result: Judged, paint: Paint): string {
  const { tone, word, sentence } = deliveryVerdict(result);
  return tone === 'good' ? '' : `${paint(styles[tone], word)}: ${sentence}\n`;
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

/** `950 (95.0%)`. Without a rate if there is nothing to compare the count with, or events were lost. */
function withRate(count: number, of: number): string {
  if (of === 0 || count > of) return countText(count);
  return `${countText(count)} (${((100 * count) / of).toFixed(1)}%)`;
}
