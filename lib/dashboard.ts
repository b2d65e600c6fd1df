import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { pushMetrics } from '../contract/metrics.ts';
import { type Route, routes } from '../contract/routes.ts';
import type { HttpApi } from './http-api.ts';
import type { PushMetrics } from './push-metrics.ts';
import type { ServiceFunction } from './service-function.ts';
import type { ServiceTable } from './tables/service-table.ts';

// In units of CloudWatch's grid, which has 24 columns.
const halfWidth = { width: 12, height: 6 };
const quarterWidth = { width: 6, height: 6 };

export interface DashboardProps {
  readonly api: HttpApi;
  readonly functions: readonly ServiceFunction[];
  readonly pushes: PushMetrics;
  readonly tables: readonly ServiceTable[];
}

/** The operator's dashboard: requests, pushes, concurrency and throttles. */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    const allRoutes = Object.values<Route>(routes);
    new cloudwatch.Dashboard(this, 'Dashboard', {
      widgets: [
        allRoutes.map((route) => requests(props.api, route)),
        allRoutes.map((route) => latency(props.api, route)),
        [pushes(props.pushes), concurrency(props.functions)],
        [throttledTables(props.tables), throttledFunctions(props.functions)],
      ],
    });
  }
}

function requests(api: HttpApi, route: Route) {
  return new cloudwatch.GraphWidget({
    ...quarterWidth,
    title: `${route.name}: requests and errors`,
    left: ['Count', '4xx', '5xx'].map((name) => api.metricOf(route, name, 'Sum')),
  });
}

function latency(api: HttpApi, route: Route) {
  return new cloudwatch.GraphWidget({
    ...quarterWidth,
    title: `${route.name}: latency, ms`,
    left: ['p50', 'p99'].map((percentile) => api.metricOf(route, 'Latency', percentile)),
  });
}

function pushes(metrics: PushMetrics) {
  return new cloudwatch.GraphWidget({
    ...halfWidth,
    title: 'Pushes',
    left: (Object.keys(pushMetrics) as (keyof typeof pushMetrics)[]).map((name) =>
      metrics.metricOf(name).with({ label: name }),
    ),
  });
}

function concurrency(functions: readonly ServiceFunction[]) {
  return new cloudwatch.GraphWidget({
    ...halfWidth,
    title: 'Concurrent executions',
    left: functions.map((fn) => fn.metricConcurrency().with({ label: fn.node.id })),
  });
}

function throttledTables(tables: readonly ServiceTable[]) {
  return new cloudwatch.GraphWidget({
    ...halfWidth,
    title: 'Throttled tables',
    left: tables.flatMap((table) => [
      table.readThrottles().with({ label: `${table.node.id}: reads` }),
      table.writeThrottles().with({ label: `${table.node.id}: writes` }),
    ]),
  });
}

function throttledFunctions(functions: readonly ServiceFunction[]) {
  return new cloudwatch.GraphWidget({
    ...halfWidth,
    title: 'Throttled functions',
    left: functions.map((fn) => fn.metricThrottles().with({ label: fn.node.id })),
  });
}
