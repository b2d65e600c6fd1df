import type { DeliveryCounts } from '../../contract/schemas/notification.ts';

/** The counts of one notification: its deliveries and its events. */
export interface NotificationCounts extends DeliveryCounts {
  readonly shown: number;
  readonly clicked: number;
}
export type CountName = keyof NotificationCounts;
export const countNames = [
  'attempted',
  'delivered',
  'removed',
  'failed',
  'shown',
  'clicked',
] as const satisfies readonly CountName[];

/** Where the counts of a notification come from, and the names of these sources in the report. */
export const sources = {
  sendResponse: 'send response',
  pushService: 'push service',
  tables: 'tables',
} as const;
export type Source = keyof typeof sources;

/** One notification's counts: the expected ones, and those of each source. */
export interface NotificationReconciliation
  extends Readonly<Record<Source, Partial<NotificationCounts>>> {
  readonly name: string;
  readonly id: string;
  readonly expected: NotificationCounts;
}

/** A number of the whole run, such as the remaining subscribers, with its value in each source. */
export interface TotalReconciliation {
  readonly name: string;
  readonly expected: number;
  readonly sources: Readonly<Record<string, number>>;
}

/** Whether a source has another count than expected. A source without this count does not differ. */
export function differs(
  notification: NotificationReconciliation,
  source: Source,
  name: CountName,
): boolean {
  const count = notification[source][name];
  return count !== undefined && count !== notification.expected[name];
}

/** Every difference, as one sentence each. */
export function differences(
  notifications: readonly NotificationReconciliation[],
  totals: readonly TotalReconciliation[],
): string[] {
  const ofNotifications = notifications.flatMap((notification) =>
    (Object.keys(sources) as Source[]).flatMap((source) =>
      countNames
        .filter((name) => differs(notification, source, name))
        .map(
          (name) =>
            `${notification.name}: ${notification[source][name]} ${name} according to the ` +
            `${sources[source]}, expected ${notification.expected[name]}.`,
        ),
    ),
  );
  const ofTotals = totals.flatMap(({ name, expected, sources: values }) =>
    Object.entries(values)
      .filter(([, value]) => value !== expected)
      .map(
        ([source, value]) => `${name}: ${value} according to the ${source}, expected ${expected}.`,
      ),
  );
  return [...ofNotifications, ...ofTotals];
}
