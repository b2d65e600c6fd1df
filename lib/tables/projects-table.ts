import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { environment } from '../../lambdas/contract/environment.ts';
import { ServiceTable, type TableProps } from './service-table.ts';

export class ProjectsTable extends ServiceTable {
  constructor(scope: Construct, id: string, props: TableProps) {
    super(scope, id, {
      ...props,
      partitionKey: 'projectId',
      variable: environment.projectsTable,
      pointInTimeRecovery: true,
      // VAPID private keys lie here. The account's own key for DynamoDB, unlike the one that AWS
      // keeps for all its customers, leaves a trace in CloudTrail whenever it is used.
      encryption: dynamodb.TableEncryption.AWS_MANAGED,
    });
  }

  /** Reading one project. */
  grantLookup(fn: lambda.Function): void {
    this.allow(fn, ['dynamodb:GetItem']);
  }

  /** Making a write depend on a project's being there. */
  grantCheck(fn: lambda.Function): void {
    this.allow(fn, ['dynamodb:ConditionCheckItem']);
  }
}
