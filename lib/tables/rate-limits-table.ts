import { Validations } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import type { ServiceFunction } from '../service-function.ts';
import { ServiceTable, type TableProps } from './service-table.ts';

export class RateLimitsTable extends ServiceTable {
  constructor(scope: Construct, id: string, props: TableProps) {
    super(scope, id, {
      ...props,
      partitionKey: 'bucket',
      variable: 'RATE_LIMITS_TABLE',
      expires: true,
      pointInTimeRecovery: false,
    });
    Validations.of(this.table.node.defaultChild!).acknowledge({
      id: 'AwsSolutions-DDB3',
      reason: 'An item counts the requests of one minute. No backup is needed.',
    });
  }

  /** Allows counting requests. */
  grantCount(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:UpdateItem']);
  }
}
