import { Validations } from 'aws-cdk-lib';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { environment } from '../../contract/environment.ts';
import { ServiceTable, type TableProps } from './service-table.ts';

export class RateLimitsTable extends ServiceTable {
  constructor(scope: Construct, id: string, props: TableProps) {
    super(scope, id, {
      ...props,
      partitionKey: 'bucket',
      variable: environment.rateLimitsTable,
      expires: true,
      pointInTimeRecovery: false,
    });
    Validations.of(this.table.node.defaultChild!).acknowledge({
      id: 'AwsSolutions-DDB3',
      reason: 'An item counts the requests of one minute. No backup is needed.',
    });
  }

  /** Allows counting requests. */
  grantCount(fn: lambda.Function): void {
    this.allow(fn, ['dynamodb:UpdateItem']);
  }
}
