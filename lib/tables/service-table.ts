import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { EnvironmentName } from '../../contract/environment.ts';
import { alarmOn } from '../alarms.ts';
import { removalPolicy } from '../removal-policy.ts';

export interface TableProps {
  /** Whether the table and its items may go when the stack goes. */
  readonly disposable: boolean;
}

interface ServiceTableProps extends TableProps {
  readonly partitionKey: string;
  readonly sortKey?: string;
  /** The variable by which functions know the table. */
  readonly variable: EnvironmentName;
  /** Whether items go some time after the epoch second in their `expiresAt`. */
  readonly expires?: boolean;
  /** Whether the table can be restored to any second of the last 35 days. */
  readonly pointInTimeRecovery: boolean;
  readonly encryption?: dynamodb.TableEncryption;
}

/**
 * What the tables share. A subclass adds a verb for each use of it; a verb gives a function
 * exactly the actions of that use, and the table's name in its environment.
 */
export abstract class ServiceTable extends Construct {
  protected readonly table: dynamodb.Table;
  private readonly variable: EnvironmentName;

  constructor(scope: Construct, id: string, props: ServiceTableProps) {
    super(scope, id);
    this.variable = props.variable;
    this.table = new dynamodb.Table(this, 'Table', {
      partitionKey: text(props.partitionKey),
      ...(props.sortKey === undefined ? {} : { sortKey: text(props.sortKey) }),
      ...(props.expires ? { timeToLiveAttribute: 'expiresAt' } : {}),
      ...(props.encryption === undefined ? {} : { encryption: props.encryption }),
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: {
        pointInTimeRecoveryEnabled: props.pointInTimeRecovery,
      },
      // Without deletion protection, which would make the rollback of a first deployment fail.
      removalPolicy: removalPolicy(props.disposable),
    });
    this.alarmOnThrottles('Table', this.readThrottles(), this.writeThrottles());
  }

  get tableName(): string {
    return this.table.tableName;
  }

  /** Reads that DynamoDB refused because the table, or an index of it, could not keep up. */
  readThrottles(index?: string): cloudwatch.Metric {
    return this.throttles('ReadThrottleEvents', index);
  }

  /** As {@link readThrottles}, of writes. */
  writeThrottles(index?: string): cloudwatch.Metric {
    return this.throttles('WriteThrottleEvents', index);
  }

  protected allow(
    fn: lambda.Function,
    actions: readonly `dynamodb:${string}`[],
    resources: readonly string[] = [this.table.tableArn],
  ): void {
    fn.addToRolePolicy(
      new iam.PolicyStatement({ actions: [...actions], resources: [...resources] }),
    );
    fn.addEnvironment(this.variable, this.table.tableName);
  }

  // Reads and writes ring apart: a sum of both would be missing whenever one of them is.
  protected alarmOnThrottles(
    of: string,
    reads: cloudwatch.Metric,
    writes: cloudwatch.Metric,
  ): void {
    const consequence = 'callers may see 503 until it has split.';
    alarmOn(this, `${of}ReadThrottles`, {
      metric: reads,
      description: `${this.node.id} (${of}) refused reads; ${consequence}`,
    });
    alarmOn(this, `${of}WriteThrottles`, {
      metric: writes,
      description: `${this.node.id} (${of}) refused writes; ${consequence}`,
    });
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

/** A key attribute; all of them are strings. */
export function text(name: string): dynamodb.Attribute {
  return { name, type: dynamodb.AttributeType.STRING };
}
