import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { pushMetrics } from '../contract/infrastructure/metrics.ts';
import type { HttpApi } from './http-api.ts';
import type { PushMetrics } from './push-metrics.ts';
import type { ServiceFunction } from './service-function.ts';
import type { ServiceTable, ServiceTables } from './service-table.ts';

export interface DashboardProps {
  readonly alarms: readonly cloudwatch.IAlarm[];
  readonly api: HttpApi;
  readonly send: ServiceFunction;
  readonly deliver: ServiceFunction;
  readonly pushes: PushMetrics;
  readonly tables: ServiceTables;
}

/**
 * The operator's dashboard. The first row shows whether the service is healthy, the others why not. With more than 50
 * metrics it would cost $3 a month, so it has none of each route: a query counts responses and times by route.
 */
export class Dashboard extends Construct {
  readonly dashboard: cloudwatch.Dashboard;

  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    const { alarms, api, send, deliver, pushes, tables } = props;
    this.dashboard = new cloudwatch.Dashboard(this, 'Dashboard', {
      widgets: [
        [
          new cloudwatch.AlarmStatusWidget({ ...quarter, title: 'Alarms', alarms: [...alarms] }),
          graph('Requests and 5xx responses', [
            api.metric('Count', 'Sum'),
            api.metric('5xx', 'Sum'),
          ]),
          graph('Latency of send, ms', [
            api.sendMetric('Latency', 'p50'),
            api.sendMetric('Latency', 'p90'),
          ]),
          graph('Pushes and events', [
            ...['attempted', 'delivered', 'removed', 'failed'].map(metricOf),
            pushes.eventMetricOf('shown'),
            pushes.eventMetricOf('clicked'),
          ]),
        ],
        [
          graph('Failed functions', [send, deliver].map(labelled((fn) => fn.metricErrors()))),
          graph('Longest delivery, ms', [deliver.metricDuration({ statistic: 'Maximum' })]),
          graph('Notifications that need attention', [
            ...[
              'failing',
              'refused',
              'vapidRefused',
              'unconfirmed',
              'unreached',
              'interrupted',
              'invocationsThrottled',
              'resultsNotStored',
            ].map(metricOf),
            pushes.disagreements(),
          ]),
          graph(
            'Sends',
            ['Count', '4xx', '5xx'].map((name) => api.sendMetric(name, 'Sum')),
          ),
        ],
        [
          graph('Latency of all routes, ms', [api.metric('Latency', 'p90')]),
          graph('Throttled functions of the account', [lambda.Function.metricAllThrottles()]),
          graph('Concurrent executions of the account', [
            lambda.Function.metricAllConcurrentExecutions(),
          ]),
          graph('Throttled calls of tables, and conflicts', [
            ...Object.values(tables).map(labelled((table) => table.throttles('Read'), ': reads')),
            ...Object.values(tables).map(labelled((table) => table.throttles('Write'), ': writes')),
            // Only at its counters do requests of one project meet.
            labelled(
              (table: ServiceTable) => table.transactionConflicts(),
              ': conflicts',
            )(tables.usage),
          ]),
        ],
      ],
    });

    function metricOf(name: string): cloudwatch.Metric {
      return pushes.metricOf(name as keyof typeof pushMetrics);
    }
  }
}

// In units of CloudWatch's grid, which has 24 columns.
const quarter = { width: 6, height: 6 };

function graph(title: string, left: cloudwatch.IMetric[]): cloudwatch.GraphWidget {
  return new cloudwatch.GraphWidget({ ...quarter, title, left });
}

/** Makes a metric of a function or table that is labelled with its name. */
function labelled<Measured extends Construct>(
  metric: (measured: Measured) => cloudwatch.Metric,
  suffix = '',
): (measured: Measured) => cloudwatch.Metric {
  return (measured) => metric(measured).with({ label: measured.node.id + suffix });
}
