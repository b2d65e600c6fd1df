import type { Construct } from 'constructs';
import type { ServiceFunction } from '../service-function.ts';
import { ServiceTable, type TableProps } from './service-table.ts';

export class DeliveriesTable extends ServiceTable {
  constructor(scope: Construct, id: string, props: TableProps) {
    super(scope, id, {
      ...props,
      partitionKey: 'id',
      variable: 'DELIVERIES_TABLE',
      expires: true,
      pointInTimeRecovery: true,
    });
  }

  /** Allows leasing slices, storing their counts, and reading what other functions have stored. */
  grantDeliver(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:UpdateItem', 'dynamodb:BatchGetItem']);
  }

  /** Allows reading the delivery of a notification. */
  grantRead(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:BatchGetItem']);
  }

  /** The same, and stopping its slices. */
  grantStop(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:BatchGetItem', 'dynamodb:UpdateItem']);
  }

  /** Allows counting an event. */
  grantCount(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:UpdateItem']);
  }
}
