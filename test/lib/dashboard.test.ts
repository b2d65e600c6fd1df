import { disagreement, eventMetrics, pushMetrics } from '../../contract/metrics.ts';
import { routes } from '../../contract/routes.ts';
import { synthesize } from '../fixtures/synthesized-stack.ts';

const { resources, tableOf, functionNamed } = synthesize();

interface Widget {
  readonly type: string;
  readonly y: number;
  readonly properties: {
    readonly metrics?: readonly (readonly unknown[])[];
    readonly alarms?: readonly string[];
  };
}

const widgets: readonly Widget[] = (() => {
  const [dashboard] = Object.values(resources('AWS::CloudWatch::Dashboard'));
  const parts: readonly (string | { Ref?: string; 'Fn::GetAtt'?: string[] })[] =
    dashboard!.Properties.DashboardBody['Fn::Join'][1];
  const text = parts.map((part) =>
    typeof part === 'string' ? part : (part.Ref ?? part['Fn::GetAtt']![0]),
  );
  return JSON.parse(text.join('')).widgets;
})();

/** Metrics in the dashboard: namespace, name, dimensions, rendering. */
function shown(from: readonly Widget[], namespace: string, ...values: readonly string[]) {
  return from
    .flatMap(({ properties }) => properties.metrics ?? [])
    .filter((metric) => metric[0] === namespace && values.every((value) => metric.includes(value)));
}

const firstRow = widgets.filter(({ y }) => y === 0);

test('the first row shows every alarm', () => {
  const [status] = firstRow.filter(({ type }) => type === 'alarm');
  const alarms = [
    ...Object.keys(resources('AWS::CloudWatch::Alarm')),
    ...Object.keys(resources('AWS::CloudWatch::CompositeAlarm')),
  ];
  expect([...status!.properties.alarms!].sort()).toEqual(alarms.sort());
});

test('the first row shows requests, errors, latency of send, pushes and events', () => {
  for (const name of ['Count', '5xx']) {
    expect(shown(firstRow, 'AWS/ApiGateway', name)).toHaveLength(1);
  }
  const { method, path } = routes.send;
  const latencies = shown(firstRow, 'AWS/ApiGateway', 'Latency', method, path);
  expect(latencies.map((metric) => (metric.at(-1) as { stat: string }).stat)).toEqual([
    'p50',
    'p90',
  ]);
  for (const name of ['attempted', 'delivered', 'removed', 'failed'] as const) {
    expect(shown(firstRow, 'Carillon', pushMetrics[name])).toHaveLength(1);
  }
  for (const name of Object.values(eventMetrics)) {
    expect(shown(firstRow, 'Carillon/Carillon', name)).toHaveLength(1);
  }
});

test.each(Object.values(pushMetrics))('the dashboard shows %s of this stack', (name) => {
  expect(shown(widgets, 'Carillon', name, 'service', 'Carillon')).toHaveLength(1);
});

test('the dashboard shows counts that disagree', () => {
  expect(shown(widgets, 'Carillon/Carillon', disagreement.metric)).toHaveLength(1);
});

test.each([
  'Projects',
  'VapidKeys',
  'IdentityKeys',
  'Subscriptions',
  'Usage',
  'Notifications',
  'Deliveries',
  'RateLimits',
])('the dashboard shows throttles of %s', (table) => {
  const name = tableOf(`${table}Table`);
  for (const metric of ['ReadThrottleEvents', 'WriteThrottleEvents']) {
    expect(shown(widgets, 'AWS/DynamoDB', metric, name)).toHaveLength(1);
  }
});

test('the dashboard shows conflicts of counters', () => {
  const usage = tableOf('UsageTable');
  expect(shown(widgets, 'AWS/DynamoDB', 'TransactionConflict', usage)).toHaveLength(1);
});

test.each(['send', 'deliver'] as const)('the dashboard shows crashes of %s', (name) => {
  expect(shown(widgets, 'AWS/Lambda', 'Errors', functionNamed(name))).toHaveLength(1);
});

test.each(['Throttles', 'ConcurrentExecutions'])(
  'the dashboard shows %s of the account',
  (metric) => {
    const [found] = shown(widgets, 'AWS/Lambda', metric);
    expect(found).not.toContain('FunctionName');
  },
);

test('the dashboard is one of those that CloudWatch does not charge for', () => {
  expect(widgets.flatMap(({ properties }) => properties.metrics ?? []).length).toBeLessThan(51);
});
