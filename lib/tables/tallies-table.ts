import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { environment } from '../../contract/environment.ts';
import { ServiceTable, type TableProps } from './service-table.ts';

export class TalliesTable extends ServiceTable {
  constructor(scope: Construct, id: string, props: TableProps) {
    super(scope, id, {
      ...props,
      partitionKey: 'tally',
      variable: environment.talliesTable,
      expires: true,
      pointInTimeRecovery: true,
    });
  }

  /** Allows claiming a share, storing its counts, and finding those of other functions. */
  grantRecord(fn: lambda.Function): void {
    this.allow(fn, ['dynamodb:UpdateItem', 'dynamodb:BatchGetItem']);
  }

  /** Allows counting an event. */
  grantCount(fn: lambda.Function): void {
    this.allow(fn, ['dynamodb:UpdateItem']);
  }

  /** Allows reading the tallies of a notification. */
  grantRead(fn: lambda.Function): void {
    this.allow(fn, ['dynamodb:BatchGetItem']);
  }
}
