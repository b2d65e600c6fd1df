import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { environment } from '../../contract/environment.ts';
import { ServiceTable, type TableProps } from './service-table.ts';

export class VapidKeysTable extends ServiceTable {
  constructor(scope: Construct, id: string, props: TableProps) {
    super(scope, id, {
      ...props,
      partitionKey: 'projectId',
      variable: environment.vapidKeysTable,
      pointInTimeRecovery: true,
      // CloudTrail logs each use of this key, the account's `aws/dynamodb`. It does not log the use
      // of the default key, which AWS owns.
      encryption: dynamodb.TableEncryption.AWS_MANAGED,
    });
  }

  /** Allows reading a project's private key, to sign VAPID tokens. */
  grantSign(fn: lambda.Function): void {
    this.allow(fn, ['dynamodb:GetItem']);
  }
}
