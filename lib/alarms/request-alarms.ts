import { Duration } from 'aws-cdk-lib';
import { sendTimeline } from '../../contract/timeline.ts';
import type { HttpApi } from '../http-api.ts';
import { type AlarmDefinitions, nearLimit, twoOfThree } from './alarm-definition.ts';
import { percentage } from './metric-math.ts';

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
      severity: 'warning',
      metric: api.sendMetric('Latency', 'p90'),
      threshold: nearLimit * sendTimeline.timeoutMs,
      periods: twoOfThree,
      description: 'One send in ten needs nearly all of its time.',
    },
  };
}
