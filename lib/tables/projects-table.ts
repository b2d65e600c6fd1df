import type { Construct } from 'constructs';
import type { ServiceFunction } from '../service-function.ts';
import { ServiceTable, type TableProps } from './service-table.ts';

export class ProjectsTable extends ServiceTable {
  constructor(scope: Construct, id: string, props: TableProps) {
    super(scope, id, {
      ...props,
      partitionKey: 'projectId',
      variable: 'PROJECTS_TABLE',
      pointInTimeRecovery: true,
    });
  }

  /** Allows reading a project. */
  grantLookup(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:GetItem']);
  }
}
