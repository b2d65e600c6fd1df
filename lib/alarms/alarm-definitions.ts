import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { RouteName } from '../../contract/routes.ts';
import { sendTimeline, sliceTimeline } from '../../contract/timeline.ts';
import { byUserIndex } from '../../lambdas/store/items.ts';
import type { HttpApi } from '../http-api.ts';
import type { PushMetrics } from '../push-metrics.ts';
import type { ServiceFunction } from '../service-function.ts';
import type { ServiceTables } from '../service-table.ts';
import { highestUse, mostMetrics, percentage, period, sum } from './metric-math.ts';

export interface AlarmDefinition {
  /**
   * `page`: users are affected now, so the alarm is a cause of the composite alarm that pages people.
   * `warning`: it notifies by itself, and can wait until morning.
   * @default warning
   */
  readonly severity?: 'page' | 'warning';
  readonly metric: cloudwatch.IMetric;
  /**
   * Value of the metric from which a period is bad.
   * @default 1
   */
  readonly threshold?: number;
  /**
   * Of how many periods how many must be bad.
   * @default one of one
   */
  readonly periods?: { readonly bad: number; readonly of: number };
  /** The event, for the operator. */
  readonly description: string;
}

/** By the alarm's id, such as `ServerErrors`, which is also its heading in the runbook: "Server errors". */
export type AlarmDefinitions = Readonly<Record<string, AlarmDefinition>>;

/** For faults that pass by themselves: a short one does not fire the alarm. */
const twoOfThree = { bad: 2, of: 3 } as const;

/**
 * For metrics of deliver's invocations. Lambda stamps them with the start and emits them after the end, so the
 * last period never has those of a long invocation. Two more periods: a value is visible some minutes later.
 */
const anyDuringDeliver = {
  bad: 1,
  of: sliceTimeline.timeoutMs / period.toMilliseconds() + 2,
} as const;

/** From this share of its limit, a duration or a number counts as near it. */
const nearLimit = 0.8;

/** Alarms on what callers get. */
export function requestAlarms(api: HttpApi): AlarmDefinitions {
  const ofAll = { part: api.metric('5xx', 'Sum'), whole: api.metric('Count', 'Sum') };
  // Apart from all requests: thousands of events per second would hide that every send fails.
  const ofSends = { part: api.sendMetric('5xx', 'Sum'), whole: api.sendMetric('Count', 'Sum') };
  // For sites with a few requests in an hour. One error is no outage; two may be one request and its
  // repetition, and fire only if nothing else succeeds.
  const few = { minimum: 2, threshold: 50, per: Duration.hours(1) };
  return {
    ServerErrors: {
      severity: 'page',
      metric: percentage(ofAll, 5),
      threshold: 5,
      description: 'At least 5 % of all requests got a 5xx response.',
    },
    SendErrors: {
      severity: 'page',
      metric: percentage(ofSends, 3),
      threshold: 5,
      description: 'At least 5 % of the sends got a 5xx response.',
    },
    HourlyServerErrors: {
      severity: 'page',
      metric: percentage({ ...ofAll, per: few.per }, few.minimum),
      threshold: few.threshold,
      description: 'At least half of all requests of an hour got a 5xx response.',
    },
    HourlySendErrors: {
      severity: 'page',
      metric: percentage({ ...ofSends, per: few.per }, few.minimum),
      threshold: few.threshold,
      description: 'At least half of the sends of an hour got a 5xx response.',
    },
    SendLatency: {
      metric: api.sendMetric('Latency', 'p90'),
      threshold: nearLimit * sendTimeline.timeoutMs,
      periods: twoOfThree,
      description: 'One send in ten needs nearly all of its time.',
    },
  };
}

/** Alarms on subscribers and the delivery of notifications. */
export function pushAlarms(pushes: PushMetrics): AlarmDefinitions {
  const attempted = pushes.metricOf('attempted');
  // Otherwise one project's old list would page, or hide that a push service is down.
  const without = pushes.metricOf('failedForOwner');
  return {
    FailedPushes: {
      severity: 'page',
      metric: percentage({ part: pushes.metricOf('failed'), whole: attempted, without }, 50),
      threshold: 20,
      description:
        'At least 20 % of the pushes failed. Failures that only the project can repair do not count.',
    },
    VapidRefusals: {
      metric: percentage({ part: pushes.metricOf('vapidRefused'), whole: attempted }, 10),
      description: 'Push services refuse the VAPID keys or the VAPID subject of a project.',
    },
    UnreachedSubscribers: {
      metric: pushes.metricOf('unreached'),
      description: 'A notification was not sent to all subscribers of its audience.',
    },
    InterruptedPushes: {
      metric: pushes.metricOf('interrupted'),
      description: 'A function crashed while it pushed: the outcome of some pushes is unknown.',
    },
    ResultsNotStored: {
      metric: pushes.metricOf('resultsNotStored'),
      description: 'The counts of a notification, or its cancellation, could not be stored.',
    },
    SubscribersRefused: {
      metric: pushes.refusals(),
      description: 'A project has as many subscribers as its cap allows, and refuses new ones.',
    },
    CountsDisagree: {
      metric: pushes.disagreements(),
      description: 'Counts of a notification or of a project contradict each other.',
    },
  };
}

export interface AlarmedFunctions {
  readonly endpoints: Readonly<Record<RouteName, ServiceFunction>>;
  readonly deliver: ServiceFunction;
  /** Executions at a time that AWS allows the account. */
  readonly accountConcurrency: number;
}

/** Alarms on the functions and on the account's concurrency. */
export function functionAlarms({
  endpoints,
  deliver,
  accountConcurrency,
}: AlarmedFunctions): AlarmDefinitions {
  const { send, ...others } = endpoints;
  return {
    // Of the other functions, an error is a 5xx response of the API. Deliver fails by design, so that Lambda repeats it
    // for a slice that is not finished: InterruptedPushes and DroppedInvocations tell when that loses something.
    CrashedSends: {
      metric: send.metricErrors(),
      description: 'The send function crashed or timed out.',
    },
    // For send, the latency of its route.
    ...inGroups('SlowFunctions', Object.values(others), (group) => ({
      metric: highestUse(
        group.map((fn) => ({
          metric: fn.metricDuration({ statistic: 'p99' }),
          limit: fn.timeout!.toMilliseconds(),
        })),
      ),
      threshold: 100 * nearLimit,
      periods: twoOfThree,
      description: 'A function needs nearly all of its time.',
    })),
    SlowDeliveries: {
      metric: deliver.metricDuration({ statistic: 'Maximum' }),
      threshold: nearLimit * deliver.timeout!.toMilliseconds(),
      periods: anyDuringDeliver,
      description: 'The deliver function needed nearly all of its time.',
    },
    // Without deliver: its throttled invocations wait, or send delivers their slices itself.
    ...inGroups('ThrottledFunctions', Object.values(endpoints), (group) => ({
      severity: 'page',
      metric: sum(group.map((fn) => fn.metricThrottles())),
      periods: twoOfThree,
      description: 'Lambda throttles invocations, because the account runs too many functions.',
    })),
    AccountConcurrency: {
      // Of all functions in the account and region; it has no dimensions.
      metric: new cloudwatch.Metric({
        namespace: 'AWS/Lambda',
        metricName: 'ClaimedAccountConcurrency',
        statistic: 'Maximum',
      }),
      threshold: nearLimit * accountConcurrency,
      description: 'The account runs nearly as many functions as AWS allows.',
    },
    DroppedInvocations: {
      severity: 'page',
      metric: deliver.metric('AsyncEventsDropped', { statistic: 'Sum' }),
      description:
        'Lambda gave up an invocation of the deliver function, after three failures or an hour ' +
        'without free concurrency: part of an audience was not notified.',
    },
  };
}

/** Alarms on the database. Its clients repeat such calls; what still fails is a 5xx response. */
export function databaseAlarms(tables: ServiceTables): AlarmDefinitions {
  const { projects, subscriptions, usage, notifications, deliveries, rateLimits } = tables;
  return {
    DatabaseThrottles: {
      // The reads and writes that grow with traffic.
      metric: sum([
        projects.throttles('Read'),
        subscriptions.throttles('Read'),
        subscriptions.throttles('Read', byUserIndex),
        deliveries.throttles('Read'),
        subscriptions.throttles('Write'),
        subscriptions.throttles('Write', byUserIndex),
        usage.throttles('Write'),
        notifications.throttles('Write'),
        deliveries.throttles('Write'),
        rateLimits.throttles('Write'),
      ]),
      threshold: 10,
      periods: twoOfThree,
      description: 'DynamoDB throttles the service.',
    },
    TransactionConflicts: {
      // Requests of one project meet at its counters. An alarm on this metric alone would ignore missing data,
      // as all alarms in the namespace of DynamoDB do, and would never end.
      metric: sum([usage.transactionConflicts()]),
      threshold: 100,
      periods: twoOfThree,
      description: 'Many transactions on the counters of a project conflict.',
    },
  };
}

/**
 * The same alarm for any number of sources of a metric: one alarm for as many as CloudWatch takes in one.
 * The ids are `id`, `id2` and so on.
 */
export function inGroups<Source>(
  id: string,
  sources: readonly Source[],
  define: (group: readonly Source[]) => AlarmDefinition,
): AlarmDefinitions {
  const starts = sources.flatMap((_, index) => (index % mostMetrics === 0 ? [index] : []));
  return Object.fromEntries(
    starts.map((start, index) => [
      index === 0 ? id : id + (index + 1),
      define(sources.slice(start, start + mostMetrics)),
    ]),
  );
}
