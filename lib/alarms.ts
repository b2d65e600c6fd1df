import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';

interface AlarmProps {
  /** A sum per period. */
  readonly metric: cloudwatch.IMetric;
  /** What it means that the alarm rings, for whoever it wakes. */
  readonly description: string;
  /** Events within one period from which on it rings. */
  readonly threshold?: number;
}

/** An alarm on events that should not happen; silence is good news. */
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
