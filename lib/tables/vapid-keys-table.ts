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
      // The account's own key for DynamoDB, unlike the one that AWS keeps for all its customers,
      // leaves a trace in CloudTrail whenever it is used.
      encryption: dynamodb.TableEncryption.AWS_MANAGED,
    });
  }

  /** Signing in the name of a project. */
  grantSign(fn: lambda.Function): void {
    this.allow(fn, ['dynamodb:GetItem']);
  }
}
