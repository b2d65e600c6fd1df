import { Stack } from 'aws-cdk-lib';
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
} from '../contract/metrics.ts';
import type { ServiceFunction } from './service-function.ts';

/** The metrics about pushes, which functions report, and those that are counted in logs. */
export class PushMetrics extends Construct {
  // Distinguishes the stages in one account.
  private readonly service = Stack.of(this).stackName;

  /** Sets the environment variable under which a function reports. */
  addReporter(fn: ServiceFunction): void {
    fn.addEnvironment('POWERTOOLS_SERVICE_NAME', this.service);
  }

  /** Counts the events in the log of track. */
  countEvents(track: lambda.Function): void {
    for (const [event, metricName] of Object.entries(eventMetrics)) {
      const filterPattern = logs.FilterPattern.all(
        logs.FilterPattern.stringValue('$.event', '=', event),
        logs.FilterPattern.numberValue('$.status', '=', 200),
      );
      this.countLines(metricName, { logGroup: track.logGroup, filterPattern, metricName });
    }
  }

  /** Counts what functions log about counts that contradict each other. */
  countDisagreements(functions: readonly lambda.Function[]): void {
    const { message, metric: metricName } = disagreement;
    const filterPattern = logs.FilterPattern.stringValue('$.message', '=', message);
    for (const { logGroup, node } of functions) {
      this.countLines(metricName + node.id, { logGroup, filterPattern, metricName });
    }
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

  private countLines(
    id: string,
    counted: Pick<logs.MetricFilterProps, 'logGroup' | 'filterPattern' | 'metricName'>,
  ): void {
    const metricNamespace = logNamespace(this.service);
    new logs.MetricFilter(this, id, { ...counted, metricNamespace, metricValue: '1' });
  }

  private countedMetric(metricName: string, label: string): cloudwatch.Metric {
    const namespace = logNamespace(this.service);
    return new cloudwatch.Metric({ namespace, metricName, statistic: 'Sum', label });
  }
}
