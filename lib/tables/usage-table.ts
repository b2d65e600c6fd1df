import type { Construct } from 'constructs';
import type { ServiceFunction } from '../service-function.ts';
import { ServiceTable, type TableProps, text } from './service-table.ts';

export class UsageTable extends ServiceTable {
  constructor(scope: Construct, id: string, props: TableProps) {
    super(scope, id, {
      ...props,
      partitionKey: 'projectRef',
      sortKey: text('period'),
      variable: 'USAGE_TABLE',
      pointInTimeRecovery: true,
    });
  }

  /** Allows counting subscribers and units, up and down. */
  grantCount(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:UpdateItem']);
  }

  /** Allows a transaction on the condition that a project exists, as the parts of its subscriber counter do. */
  grantCheckProject(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:ConditionCheckItem']);
  }

  /** Allows reading how many subscribers a project has, and how many units it has used. */
  grantRead(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:Query']);
  }
}
