import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { environment } from '../../contract/environment.ts';
import { ServiceTable, type TableProps, text } from './service-table.ts';

export class UsageTable extends ServiceTable {
  constructor(scope: Construct, id: string, props: TableProps) {
    super(scope, id, {
      ...props,
      partitionKey: 'projectId',
      sortKey: text('period'),
      variable: environment.usageTable,
      pointInTimeRecovery: true,
    });
  }

  /** Allows counting subscribers and units, up and down. */
  grantCount(fn: lambda.Function): void {
    this.allow(fn, ['dynamodb:UpdateItem']);
  }

  /** Allows a transaction on the condition that a project exists, as the parts of its subscriber counter do. */
  grantCheckProject(fn: lambda.Function): void {
    this.allow(fn, ['dynamodb:ConditionCheckItem']);
  }

  /** Allows reading how many subscribers a project has, and how many units it has used. */
  grantRead(fn: lambda.Function): void {
    this.allow(fn, ['dynamodb:Query']);
  }
}
