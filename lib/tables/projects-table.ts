import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { environment } from '../../contract/environment.ts';
import { ServiceTable, type TableProps } from './service-table.ts';

export class ProjectsTable extends ServiceTable {
  constructor(scope: Construct, id: string, props: TableProps) {
    super(scope, id, {
      ...props,
      partitionKey: 'projectId',
      variable: environment.projectsTable,
      pointInTimeRecovery: true,
    });
  }

  /** Allows reading a project. */
  grantLookup(fn: lambda.Function): void {
    this.allow(fn, ['dynamodb:GetItem']);
  }
}
