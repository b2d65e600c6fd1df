import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { byUserIndex } from '../../lambdas/store/items.ts';
import type { ServiceFunction } from '../service-function.ts';
import { binary, ServiceTable, type TableProps, text } from './service-table.ts';

export class SubscriptionsTable extends ServiceTable {
  constructor(scope: Construct, id: string, props: TableProps) {
    super(scope, id, {
      ...props,
      partitionKey: 'projectPart',
      sortKey: binary('endpointHash'),
      variable: 'SUBSCRIPTIONS_TABLE',
      pointInTimeRecovery: true,
    });
    this.table.addGlobalSecondaryIndex({
      indexName: byUserIndex,
      partitionKey: text('projectUser'),
      // All that a push and the conditions of a send need: a targeted send reads only the index.
      projectionType: dynamodb.ProjectionType.INCLUDE,
      nonKeyAttributes: [
        'origin',
        'path',
        'p256dh',
        'auth',
        'vapidPairNumber',
        'channels',
        'updatedAt',
      ],
    });
  }

  /** Allows adding and updating subscriptions. */
  grantSave(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:PutItem', 'dynamodb:UpdateItem']);
  }

  /** Allows deleting subscriptions: on an unsubscribe request, or because they are gone. */
  grantRemove(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:DeleteItem']);
  }

  /** Allows finding the subscriptions of a user id. */
  grantFindUser(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:Query'], [`${this.table.tableArn}/index/${byUserIndex}`]);
  }

  /** Allows reading a sample of a project's subscriptions. */
  grantSample(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:Query']);
  }

  /** Allows storing which key pair a subscription was made with. */
  grantCorrectPair(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:UpdateItem']);
  }

  /** Allows reading all subscriptions of a project, or of some user ids, and whose one of them is. */
  grantAudience(fn: ServiceFunction): void {
    const { tableArn } = this.table;
    this.allow(fn, ['dynamodb:Query'], [tableArn, `${tableArn}/index/${byUserIndex}`]);
    this.allow(fn, ['dynamodb:GetItem']);
  }
}
