import { disagreement, eventMetrics, pushMetrics } from '../../contract/infrastructure/metrics.ts';
import { routes } from '../../contract/wire/routes.ts';
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

const throttles = ['ReadThrottleEvents', 'WriteThrottleEvents'];
const tables = Object.keys(resources('AWS::DynamoDB::Table'));

test.each([
  ...Object.values(pushMetrics).map((name) => ['Carillon', name, 'service', 'Carillon']),
  ['Carillon/Carillon', disagreement.metric],
  ...tables.flatMap((table) => throttles.map((metric) => ['AWS/DynamoDB', metric, table])),
  ['AWS/DynamoDB', 'TransactionConflict', tableOf('UsageTable')],
  ['AWS/Lambda', 'Errors', functionNamed('send')],
  ['AWS/Lambda', 'Errors', functionNamed('deliver')],
])('the dashboard shows %s %s %s', (namespace, ...values) => {
  expect(shown(widgets, namespace!, ...values)).toHaveLength(1);
});

test.each(['Throttles', 'ConcurrentExecutions'])('%s is of the account', (metric) => {
  const [found] = shown(widgets, 'AWS/Lambda', metric);
  expect(found).not.toContain('FunctionName');
});

test('the dashboard is one of those that CloudWatch does not charge for', () => {
  expect(widgets.flatMap(({ properties }) => properties.metrics ?? []).length).toBeLessThan(51);
});
