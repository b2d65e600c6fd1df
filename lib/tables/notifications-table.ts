import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { environment } from '../../contract/environment.ts';
import { ServiceTable, type TableProps } from './service-table.ts';

export class NotificationsTable extends ServiceTable {
  constructor(scope: Construct, id: string, props: TableProps) {
    super(scope, id, {
      ...props,
      partitionKey: 'projectId',
      sortKey: 'notificationId',
      variable: environment.notificationsTable,
      expires: true,
      pointInTimeRecovery: true,
    });
  }

  /**
   * Writing a notification down before it is sent, its counts after, and undoing the former; and
   * reading what an earlier request under the same `Idempotency-Key` came to.
   */
  grantRecord(fn: lambda.Function): void {
    this.allow(fn, [
      'dynamodb:GetItem',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
      'dynamodb:DeleteItem',
    ]);
  }

  /** Counting a beacon. */
  grantBeacon(fn: lambda.Function): void {
    this.allow(fn, ['dynamodb:UpdateItem']);
  }
}
