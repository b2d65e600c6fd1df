import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { environment } from '../../contract/environment.ts';
import { ServiceTable, type TableProps, text } from './service-table.ts';

export class NotificationsTable extends ServiceTable {
  constructor(scope: Construct, id: string, props: TableProps) {
    super(scope, id, {
      ...props,
      partitionKey: 'projectId',
      sortKey: text('notificationId'),
      variable: environment.notificationsTable,
      expires: true,
      pointInTimeRecovery: true,
    });
  }

  /** Allows storing a notification, cancelling it, and finding the one of a repeated request. */
  grantRecord(fn: lambda.Function): void {
    this.allow(fn, ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:DeleteItem']);
  }

  /** Allows reading the notifications of a project, one after the other. */
  grantList(fn: lambda.Function): void {
    this.allow(fn, ['dynamodb:Query']);
  }

  /** Allows reading one notification. */
  grantRead(fn: lambda.Function): void {
    this.allow(fn, ['dynamodb:GetItem']);
  }
}
