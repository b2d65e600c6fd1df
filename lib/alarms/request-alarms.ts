import { limits } from '../../contract/limits.ts';
import type { HttpApi } from '../http-api.ts';
import { type AlarmDefinitions, nearLimit, twoOfThree } from './alarm-definition.ts';
import { percentage } from './metric-math.ts';

/** Alarms on what callers get. */
export function requestAlarms(api: HttpApi): AlarmDefinitions {
  return {
    ServerErrors: {
      severity: 'page',
      metric: percentage(api.metric('5xx', 'Sum'), api.metric('Count', 'Sum'), 5),
      threshold: 5,
      description: 'At least 5 % of all requests got a 5xx response.',
    },
    // Apart from all requests: thousands of events per second would hide that every send fails.
    SendErrors: {
      severity: 'page',
      metric: percentage(api.sendMetric('5xx', 'Sum'), api.sendMetric('Count', 'Sum'), 3),
      threshold: 5,
      description: 'At least 5 % of the sends got a 5xx response.',
    },
    SendLatency: {
      severity: 'warning',
      metric: api.sendMetric('Latency', 'p90'),
      threshold: nearLimit * limits.send.timeoutMs,
      periods: twoOfThree,
      description: 'One send in ten needs nearly all of its time.',
    },
  };
}
