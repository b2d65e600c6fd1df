import { Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { eventMetrics, eventNamespace, metricNamespace, pushMetrics } from '../contract/metrics.ts';

/** The metrics about pushes, which functions report, and about events, which are counted in a log. */
export class PushMetrics extends Construct {
  // Distinguishes the stages in one account.
  private readonly service = Stack.of(this).stackName;

  /** Sets the environment variable under which a function reports. */
  addReporter(fn: lambda.Function): void {
    fn.addEnvironment('POWERTOOLS_SERVICE_NAME', this.service);
  }

  /** Counts the events in the log of track. */
  countEvents(track: lambda.Function): void {
    for (const [event, metricName] of Object.entries(eventMetrics)) {
      new logs.MetricFilter(this, metricName, {
        logGroup: track.logGroup,
        filterPattern: logs.FilterPattern.all(
          logs.FilterPattern.stringValue('$.event', '=', event),
          logs.FilterPattern.numberValue('$.status', '=', 200),
        ),
        metricNamespace: eventNamespace(this.service),
        metricName,
        metricValue: '1',
      });
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
    return new cloudwatch.Metric({
      namespace: eventNamespace(this.service),
      metricName: eventMetrics[event],
      statistic: 'Sum',
      label: event,
    });
  }
}
