import { Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { metricNamespace, pushMetrics } from '../contract/metrics.ts';
import { alarmOn } from './alarms.ts';

/** What the send function reports about its pushes. */
export class PushMetrics extends Construct {
  // Tells the stages in one account apart.
  private readonly service = Stack.of(this).stackName;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    alarmOn(this, 'VapidRefusals', {
      metric: this.metricOf('vapidRefused'),
      description:
        'A push service refuses the keys or the subject of a project: none of its pushes to that ' +
        'service arrives until they are right.',
    });
  }

  /** Has a function report under this stack's name. */
  reportedBy(fn: lambda.Function): void {
    fn.addEnvironment('POWERTOOLS_SERVICE_NAME', this.service);
  }

  metricOf(name: keyof typeof pushMetrics): cloudwatch.Metric {
    return new cloudwatch.Metric({
      namespace: metricNamespace,
      metricName: pushMetrics[name],
      dimensionsMap: { service: this.service },
      statistic: 'Sum',
    });
  }
}
