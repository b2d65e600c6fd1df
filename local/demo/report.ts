import { table } from '../../admin/terminal/table.ts';
import type { Paint } from '../../admin/terminal/terminal.ts';
import {
  countNames,
  differs,
  type NotificationReconciliation,
  type Source,
  sources,
  type TotalReconciliation,
} from './reconciliation.ts';

/** A table with one row per source below each notification. Counts that differ are marked with ≠. */
export function notificationsText(
  notifications: readonly NotificationReconciliation[],
  paint: Paint,
): string {
  const columns = [
    { title: '' },
    ...countNames.map((name) => ({ title: name, align: 'right' as const })),
  ];
  const rows = notifications.flatMap((notification) => [
    [],
    [paint('bold', notification.name)],
    ['  expected', ...countNames.map((name) => paint('dim', String(notification.expected[name])))],
    ...(Object.entries(sources) as [Source, string][]).map(([source, label]) => [
      `  ${label}`,
      ...countNames.map((name) => {
        const count = notification[source][name];
        if (count === undefined) return '';
        return differs(notification, source, name)
          ? paint('red', `≠ ${count}`)
          : paint('green', String(count));
      }),
    ]),
  ]);
  return table(columns, rows, paint);
}

/** One line per total. Values that differ are marked with ≠. */
export function totalsText(totals: readonly TotalReconciliation[], paint: Paint): string {
  const lines = totals.map(({ name, expected, sources: values }) => {
    const texts = Object.entries(values).map(([source, value]) =>
      value === expected
        ? `${source} ${paint('green', String(value))}`
        : `${source} ${paint('red', `≠ ${value}`)}`,
    );
    return `${paint('bold', name)}: ${texts.join(', ')}\n`;
  });
  return lines.join('');
}
