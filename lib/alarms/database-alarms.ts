import { byUserIndex } from '../../lambdas/store/items.ts';
import type { ServiceTables } from '../service-table.ts';
import { type AlarmDefinitions, twoOfThree } from './alarm-definition.ts';
import { sum } from './metric-math.ts';

/** Alarms on the database. Its clients repeat such calls; what still fails is a 5xx response. */
export function databaseAlarms(tables: ServiceTables): AlarmDefinitions {
  const { projects, subscriptions, usage, notifications, deliveries, rateLimits } = tables;
  return {
    DatabaseThrottles: {
      severity: 'warning',
      // The reads and writes that grow with traffic.
      metric: sum([
        projects.readThrottles(),
        subscriptions.readThrottles(),
        subscriptions.readThrottles(byUserIndex),
        deliveries.readThrottles(),
        subscriptions.writeThrottles(),
        subscriptions.writeThrottles(byUserIndex),
        usage.writeThrottles(),
        notifications.writeThrottles(),
        deliveries.writeThrottles(),
        rateLimits.writeThrottles(),
      ]),
      threshold: 10,
      periods: twoOfThree,
      description: 'DynamoDB throttles the service.',
    },
    TransactionConflicts: {
      severity: 'warning',
      // Requests of one project meet at its counters. An alarm on this metric alone would ignore missing data,
      // as all alarms in the namespace of DynamoDB do, and would never end.
      metric: sum([usage.transactionConflicts()]),
      threshold: 100,
      periods: twoOfThree,
      description: 'Many transactions on the counters of a project conflict.',
    },
  };
}
