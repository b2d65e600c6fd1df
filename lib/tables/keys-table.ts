import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { ServiceFunction } from '../service-function.ts';
import { ServiceTable, type ServiceTableProps, type TableProps } from './service-table.ts';

/** A table with keys of projects that only the functions which need them can read. */
export class KeysTable extends ServiceTable {
  constructor(
    scope: Construct,
    id: string,
    props: TableProps & Pick<ServiceTableProps, 'variable'>,
  ) {
    super(scope, id, {
      ...props,
      partitionKey: 'projectId',
      pointInTimeRecovery: true,
      // CloudTrail logs each use of this key, the account's `aws/dynamodb`. It does not log the use
      // of the default key, which AWS owns.
      encryption: dynamodb.TableEncryption.AWS_MANAGED,
    });
  }

  /** Allows reading the keys of a project. */
  grantUse(fn: ServiceFunction): void {
    this.allow(fn, ['dynamodb:GetItem']);
  }
}
