import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';

interface AlarmProps {
  /** Its statistic must be `Sum`. */
  readonly metric: cloudwatch.IMetric;
  /** What has happened, for the operator. */
  readonly description: string;
  /**
   * Events in one period from which the alarm fires.
   * @default 1
   */
  readonly threshold?: number;
}

/** An alarm on events that should not happen. It does not fire on missing data: no events. */
export function alarmOn(scope: Construct, id: string, props: AlarmProps): cloudwatch.Alarm {
  return new cloudwatch.Alarm(scope, id, {
    metric: props.metric,
    alarmDescription: props.description,
    threshold: props.threshold ?? 1,
    evaluationPeriods: 1,
    comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
  });
}
