import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { RouteName } from '../../contract/routes.ts';
import type { ServiceFunction } from '../service-function.ts';
import {
  type AlarmDefinitions,
  anyDuringDeliver,
  nearLimit,
  twoOfThree,
} from './alarm-definition.ts';
import { highestUse, inGroups, sum } from './metric-math.ts';

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
      severity: 'warning',
      metric: send.metricErrors(),
      threshold: 1,
      description: 'The send function crashed or timed out.',
    },
    // For send, the latency of its route.
    ...inGroups('SlowFunctions', Object.values(others), (group) => ({
      severity: 'warning',
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
      severity: 'warning',
      metric: deliver.metricDuration({ statistic: 'Maximum' }),
      threshold: nearLimit * deliver.timeout!.toMilliseconds(),
      periods: anyDuringDeliver,
      description: 'The deliver function needed nearly all of its time.',
    },
    // Without deliver: its throttled invocations wait, or send delivers their slices itself.
    ...inGroups('ThrottledFunctions', Object.values(endpoints), (group) => ({
      severity: 'page',
      metric: sum(group.map((fn) => fn.metricThrottles())),
      threshold: 1,
      periods: twoOfThree,
      description: 'Lambda throttles invocations, because the account runs too many functions.',
    })),
    AccountConcurrency: {
      severity: 'warning',
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
      threshold: 1,
      description:
        'Lambda gave up an invocation of the deliver function, after three failures or an hour ' +
        'without free concurrency: part of an audience was not notified.',
    },
  };
}
