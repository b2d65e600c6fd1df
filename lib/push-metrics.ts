import { Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { metricNamespace, pushMetrics } from '../contract/metrics.ts';
import { alarmOn } from './alarms.ts';

/** The metrics that send and deliver report about their pushes. */
export class PushMetrics extends Construct {
  // Distinguishes the stages in one account.
  private readonly service = Stack.of(this).stackName;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    alarmOn(this, 'VapidRefusals', {
      metric: this.metricOf('vapidRefused'),
      description:
        'A push service refuses the VAPID keys or the VAPID subject of a project. It accepts no ' +
        'pushes of that project until this is fixed.',
    });
  }

  /** Sets the environment variable under which a function reports. */
  addReporter(fn: lambda.Function): void {
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
