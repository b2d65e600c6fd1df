import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { ServiceFunction } from '../service-function.ts';
import { ServiceTable, type TableProps } from './service-table.ts';

export class VapidKeysTable extends ServiceTable {
  constructor(scope: Construct, id: string, props: TableProps) {
    super(scope, id, {
      ...props,
      partitionKey: 'projectId',
      variable: 'VAPID_KEYS_TABLE',
      pointInTimeRecovery: true,
      // CloudTrail logs each use of this key, the account's `aws/dynamodb`. It does not log the use
      // of the default key, which AWS owns.
      encryption: dynamodb.TableEncryption.AWS_MANAGED,
    });
  }

  /** Allows reading a project's private key, to sign VAPID tokens. */
  grantSign(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:GetItem']);
  }
}
