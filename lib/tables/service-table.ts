import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { EnvironmentName } from '../../contract/environment.ts';
import { removalPolicy } from '../removal-policy.ts';
import type { ServiceFunction } from '../service-function.ts';

export interface TableProps {
  /** Whether the table is deleted with the stack. */
  readonly disposable: boolean;
  /** Write units per second that the table takes at once. Default: 4,000, as any new table. */
  readonly warmWritesPerSecond?: number | undefined;
}

export interface ServiceTableProps extends TableProps {
  readonly partitionKey: string;
  readonly sortKey?: dynamodb.Attribute;
  /** Environment variable with the table's name. */
  readonly variable: EnvironmentName;
  /** Whether DynamoDB deletes items after their `expiresAt`, in epoch seconds. */
  readonly expires?: boolean;
  /** Whether the table can be restored to any second of the last 35 days, DynamoDB's default. */
  readonly pointInTimeRecovery: boolean;
  readonly encryption?: dynamodb.TableEncryption;
}

/**
 * A table of the service. A subclass has one `grant…` method per use. It allows a function exactly
 * the actions of that use, and sets the environment variable with the table's name.
 */
export abstract class ServiceTable extends Construct {
  protected readonly table: dynamodb.Table;
  private readonly variable: EnvironmentName;

  constructor(scope: Construct, id: string, props: ServiceTableProps) {
    super(scope, id);
    this.variable = props.variable;
    this.table = new dynamodb.Table(this, 'Table', {
      partitionKey: text(props.partitionKey),
      ...(props.sortKey === undefined ? {} : { sortKey: props.sortKey }),
      ...(props.expires ? { timeToLiveAttribute: 'expiresAt' } : {}),
      ...(props.encryption === undefined ? {} : { encryption: props.encryption }),
      ...(props.warmWritesPerSecond === undefined
        ? {}
        : { warmThroughput: { writeUnitsPerSecond: props.warmWritesPerSecond } }),
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: {
        pointInTimeRecoveryEnabled: props.pointInTimeRecovery,
      },
      // No deletion protection: a failed first deployment could not be rolled back.
      removalPolicy: removalPolicy(props.disposable),
    });
  }

  get tableName(): string {
    return this.table.tableName;
  }

  /** Throttled reads of the table, or of the given index. */
  readThrottles(index?: string): cloudwatch.Metric {
    return this.throttles('ReadThrottleEvents', index);
  }

  /** Throttled writes of the table, or of the given index. */
  writeThrottles(index?: string): cloudwatch.Metric {
    return this.throttles('WriteThrottleEvents', index);
  }

  /** Writes refused because another transaction was changing the same item. */
  transactionConflicts(): cloudwatch.Metric {
    return this.table.metric('TransactionConflict', {
      statistic: 'Sum',
      dimensionsMap: { TableName: this.table.tableName },
    });
  }

  protected allow(
    fn: ServiceFunction,
    actions: readonly `dynamodb:${string}`[],
    resources: readonly string[] = [this.table.tableArn],
  ): void {
    fn.addToRolePolicy(
      new iam.PolicyStatement({ actions: [...actions], resources: [...resources] }),
    );
    fn.addEnvironment(this.variable, this.table.tableName);
  }

  private throttles(metricName: string, index: string | undefined): cloudwatch.Metric {
    return this.table.metric(metricName, {
      statistic: 'Sum',
      dimensionsMap: {
        TableName: this.table.tableName,
        ...(index === undefined ? {} : { GlobalSecondaryIndexName: index }),
      },
    });
  }
}

/** A key attribute that is a string. */
export function text(name: string): dynamodb.Attribute {
  return { name, type: dynamodb.AttributeType.STRING };
}

/** A key attribute of bytes. */
export function binary(name: string): dynamodb.Attribute {
  return { name, type: dynamodb.AttributeType.BINARY };
}
