import { pushMetrics } from '../../contract/metrics.ts';
import { type FunctionName, type Route, routes } from '../../contract/routes.ts';
import { synthesize } from '../fixtures/synthesized-stack.ts';

const { resources, tableOf, functionNamed } = synthesize();

/** The metrics in the dashboard's body: namespace, name, dimensions, rendering. */
const metrics: readonly (readonly unknown[])[] = (() => {
  const [dashboard] = Object.values(resources('AWS::CloudWatch::Dashboard'));
  const parts: readonly (string | { Ref?: string })[] =
    dashboard!.Properties.DashboardBody['Fn::Join'][1];
  const body = JSON.parse(
    parts.map((part) => (typeof part === 'string' ? part : part.Ref)).join(''),
  );
  return body.widgets.flatMap(
    ({ properties }: { properties: { metrics: readonly unknown[][] } }) => properties.metrics,
  );
})();

function shown(namespace: string, ...values: readonly string[]) {
  return metrics.filter(
    (metric) => metric[0] === namespace && values.every((value) => metric.includes(value)),
  );
}

test.each(Object.values<Route>(routes))(
  'the dashboard shows requests, errors and latency of $name',
  ({ method, path }) => {
    for (const name of ['Count', '4xx', '5xx']) {
      expect(shown('AWS/ApiGateway', name, method, path)).toHaveLength(1);
    }
    const latencies = shown('AWS/ApiGateway', 'Latency', method, path);
    expect(latencies.map((metric) => (metric.at(-1) as { stat: string }).stat)).toEqual([
      'p50',
      'p99',
    ]);
  },
);

test.each(Object.values(pushMetrics))('the dashboard shows %s of this stack', (name) => {
  expect(shown('Carillon', name, 'service', 'Carillon')).toHaveLength(1);
});

test.each(['Projects', 'VapidKeys', 'Subscriptions', 'Usage', 'Notifications', 'RateLimits'])(
  'the dashboard shows throttles of %s',
  (table) => {
    const name = tableOf(`${table}Table`);
    expect(shown('AWS/DynamoDB', 'ReadThrottleEvents', name)).toHaveLength(1);
    expect(shown('AWS/DynamoDB', 'WriteThrottleEvents', name)).toHaveLength(1);
  },
);

test.each([...(Object.keys(routes) as FunctionName[]), 'deliver' as const])(
  'the dashboard shows concurrency and throttles of %s',
  (name) => {
    const fn = functionNamed(name);
    expect(shown('AWS/Lambda', 'ConcurrentExecutions', fn)).toHaveLength(1);
    expect(shown('AWS/Lambda', 'Throttles', fn)).toHaveLength(1);
  },
);

test('the alarm on refused VAPID keys fires on the first refusal', () => {
  const alarms = Object.values(resources('AWS::CloudWatch::Alarm')).filter(
    ({ Properties }) => Properties.Namespace === 'Carillon',
  );
  expect(alarms).toHaveLength(1);
  expect(alarms[0]!.Properties).toMatchObject({
    MetricName: pushMetrics.vapidRefused,
    Dimensions: [{ Name: 'service', Value: 'Carillon' }],
    Statistic: 'Sum',
    Threshold: 1,
  });
});
