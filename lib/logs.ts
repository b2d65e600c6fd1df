import * as logs from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { removalPolicy } from './removal-policy.ts';

/** A log group with a retention of one month, enough to investigate a complaint. */
export function logGroup(
  scope: Construct,
  id: string,
  disposable: boolean,
  logGroupName?: string,
): logs.LogGroup {
  return new logs.LogGroup(scope, id, {
    ...(logGroupName !== undefined && { logGroupName }),
    retention: logs.RetentionDays.ONE_MONTH,
    removalPolicy: removalPolicy(disposable),
  });
}
