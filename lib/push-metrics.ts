import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import {
  disagreement,
  eventMetrics,
  logNamespace,
  metricNamespace,
  pushMetrics,
  refusals,
} from '../contract/infrastructure/metrics.ts';
import type { ServiceFunction } from './service-function.ts';

/** The metrics that functions report about pushes, and the metrics that are counted in logs. */
export class PushMetrics extends Construct {
  /** @param service distinguishes the services in one account. */
  constructor(
    scope: Construct,
    id: string,
    private readonly service: string,
  ) {
    super(scope, id);
  }

  /** Sets the environment variable under which a function reports. */
  addReporter(fn: ServiceFunction): void {
    fn.addEnvironment('POWERTOOLS_SERVICE_NAME', this.service);
  }

  /** Adds up the events in the log of track: a line counts those since the line before. */
  countEvents({ logGroup }: lambda.Function): void {
    for (const [event, metricName] of Object.entries(eventMetrics)) {
      const metricValue = `$.${event}`;
      const filterPattern = logs.FilterPattern.numberValue(metricValue, '>', 0);
      this.countLines(metricName, { logGroup, filterPattern, metricName, metricValue });
    }
  }

  /** Counts the log lines about contradictory counts. */
  countDisagreements(functions: readonly lambda.Function[]): void {
    const { message, metric: metricName } = disagreement;
    const filterPattern = logs.FilterPattern.stringValue('$.message', '=', message);
    for (const { logGroup, node } of functions) {
      const counted = { logGroup, filterPattern, metricName, metricValue: '1' };
      this.countLines(metricName + node.id, counted);
    }
  }

  /** Counts the log lines of what a cap refuses. */
  countRefusals(route: keyof typeof refusals, { logGroup }: lambda.Function): void {
    const { code, metric: metricName } = refusals[route];
    const filterPattern = logs.FilterPattern.stringValue('$.code', '=', code);
    this.countLines(metricName, { logGroup, filterPattern, metricName, metricValue: '1' });
  }

  metricOf(name: keyof typeof pushMetrics): cloudwatch.Metric {
    return new cloudwatch.Metric({
      namespace: metricNamespace,
      metricName: pushMetrics[name],
      dimensionsMap: { service: this.service },
      statistic: 'Sum',
      label: name,
    });
  }

  eventMetricOf(event: keyof typeof eventMetrics): cloudwatch.Metric {
    return this.countedMetric(eventMetrics[event], event);
  }

  disagreements(): cloudwatch.Metric {
    return this.countedMetric(disagreement.metric, disagreement.message);
  }

  refusals(route: keyof typeof refusals): cloudwatch.Metric {
    return this.countedMetric(refusals[route].metric, 'refused');
  }

  private countLines(id: string, counted: Omit<logs.MetricFilterProps, 'metricNamespace'>): void {
    new logs.MetricFilter(this, id, { ...counted, metricNamespace: logNamespace(this.service) });
  }

  private countedMetric(metricName: string, label: string): cloudwatch.Metric {
    const namespace = logNamespace(this.service);
    return new cloudwatch.Metric({ namespace, metricName, statistic: 'Sum', label });
  }
}
