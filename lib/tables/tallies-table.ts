import type { Construct } from 'constructs';
import type { ServiceFunction } from '../service-function.ts';
import { ServiceTable, type TableProps } from './service-table.ts';

export class TalliesTable extends ServiceTable {
  constructor(scope: Construct, id: string, props: TableProps) {
    super(scope, id, {
      ...props,
      partitionKey: 'tally',
      variable: 'TALLIES_TABLE',
      expires: true,
      pointInTimeRecovery: true,
    });
  }

  /** Allows claiming a share, storing its counts, and finding the counts of other functions. */
  grantRecord(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:UpdateItem', 'dynamodb:BatchGetItem']);
  }

  /** Allows reading the tallies of a notification, and stopping its shares. */
  grantStop(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:BatchGetItem', 'dynamodb:UpdateItem']);
  }

  /** Allows counting an event. */
  grantCount(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:UpdateItem']);
  }

  /** Allows reading the tallies of a notification. */
  grantRead(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:BatchGetItem']);
  }
}
