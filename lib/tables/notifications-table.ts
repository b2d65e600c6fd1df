import type { Construct } from 'constructs';
import type { ServiceFunction } from '../service-function.ts';
import { ServiceTable, type TableProps, text } from './service-table.ts';

export class NotificationsTable extends ServiceTable {
  constructor(scope: Construct, id: string, props: TableProps) {
    super(scope, id, {
      ...props,
      partitionKey: 'projectRef',
      sortKey: text('notificationId'),
      variable: 'NOTIFICATIONS_TABLE',
      expires: true,
      pointInTimeRecovery: true,
    });
  }

  /** Allows storing a notification, cancelling it, and finding and continuing that of a repeated request. */
  grantRecord(fn: ServiceFunction): void {
    this.allow(fn, [
      'dynamodb:GetItem',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
      'dynamodb:DeleteItem',
    ]);
  }

  /** Allows reading the notifications of a project, one after the other. */
  grantList(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:Query']);
  }

  /** Allows reading one notification. */
  grantRead(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:GetItem']);
  }
}
