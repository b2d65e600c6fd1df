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
   * Allows storing a notification before it is sent and its counts afterwards, deleting it again,
   * and reading the result of an earlier request with the same `Idempotency-Key`.
   */
  grantRecord(fn: lambda.Function): void {
    this.allow(fn, [
      'dynamodb:GetItem',
      'dynamodb:PutItem',
      'dynamodb:UpdateItem',
      'dynamodb:DeleteItem',
    ]);
  }

  /** Allows counting beacons. */
  grantBeacon(fn: lambda.Function): void {
    this.allow(fn, ['dynamodb:UpdateItem']);
  }
}
