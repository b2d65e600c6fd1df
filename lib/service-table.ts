import type { RemovalPolicy } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import {
  byUser,
  constructIdOf,
  type TableKey,
  type TableName,
  tableKeys,
  tableNames,
  tableVariables,
} from '../contract/infrastructure/tables.ts';
import type { TableAction } from '../contract/wire/routes.ts';
import { acknowledgeRule } from './acknowledged-rule.ts';
import type { ServiceFunction } from './service-function.ts';

interface TableFacts {
  /**
   * CloudTrail logs each use of the account's key `aws/dynamodb`. It does not log the use of the default key, which
   * AWS owns.
   */
  readonly encryption?: dynamodb.TableEncryption.AWS_MANAGED;
  /** Why it cannot be restored to any second of the last 35 days, DynamoDB's default, as the others can. */
  readonly noRecovery?: string;
  /** Each event is a write to it. */
  readonly countsEvents?: true;
}

const keys = { encryption: dynamodb.TableEncryption.AWS_MANAGED } as const;

const facts: Readonly<Record<TableName, TableFacts>> = {
  projects: {},
  vapidKeys: keys,
  identityKeys: keys,
  subscriptions: {},
  usage: {},
  notifications: {},
  deliveries: { countsEvents: true },
  rateLimits: {
    noRecovery: 'An item counts the requests of one minute. No backup is needed.',
    countsEvents: true,
  },
};

export interface TableProps {
  readonly removalPolicy: RemovalPolicy;
  /** Write capacity, in units per second, at which the event tables start. Default: 4,000, as any new table. */
  readonly warmWritesPerSecond: number | undefined;
}

export type ServiceTables = Readonly<Record<TableName, ServiceTable>>;

export function serviceTables(scope: Construct, props: TableProps): ServiceTables {
  return Object.fromEntries(
    tableNames.map((name) => [name, new ServiceTable(scope, name, props)]),
  ) as unknown as ServiceTables;
}

/** A table of the service. */
export class ServiceTable extends Construct {
  readonly table: dynamodb.Table;
  private readonly name: TableName;

  constructor(scope: Construct, name: TableName, props: TableProps) {
    super(scope, constructIdOf(name));
    this.name = name;
    const { partitionKey, sortKey, hasBinarySortKey, expires }: TableKey = tableKeys[name];
    const its = facts[name];
    this.table = new dynamodb.Table(this, 'Table', {
      partitionKey: text(partitionKey),
      ...(sortKey && { sortKey: hasBinarySortKey ? binary(sortKey) : text(sortKey) }),
      ...(expires && { timeToLiveAttribute: 'expiresAt' }),
      ...(its.encryption && { encryption: its.encryption }),
      ...(its.countsEvents &&
        props.warmWritesPerSecond && {
          warmThroughput: { writeUnitsPerSecond: props.warmWritesPerSecond },
        }),
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: !its.noRecovery },
      // No deletion protection: a failed first deployment could not be rolled back.
      removalPolicy: props.removalPolicy,
    });
    if (name === 'subscriptions') {
      this.table.addGlobalSecondaryIndex({
        indexName: byUser.name,
        partitionKey: text(byUser.partitionKey),
        sortKey: { name: byUser.sortKey, type: dynamodb.AttributeType.NUMBER },
        projectionType: dynamodb.ProjectionType.KEYS_ONLY,
      });
    }
    if (its.noRecovery)
      acknowledgeRule(this.table, { id: 'AwsSolutions-DDB3', reason: its.noRecovery });
  }

  get tableName(): string {
    return this.table.tableName;
  }

  /** Allows a function these actions, and tells it the table's name. */
  grant(fn: ServiceFunction, actions: readonly TableAction[] | undefined): void {
    if (actions === undefined) return;
    const { tableArn } = this.table;
    for (const action of actions) {
      const [name, index] = action.split(' ');
      fn.addToRolePolicy(
        new iam.PolicyStatement({
          actions: [`dynamodb:${name}`],
          resources: [index === undefined ? tableArn : `${tableArn}/index/${index}`],
        }),
      );
    }
    fn.addEnvironment(tableVariables[this.name], this.tableName);
  }

  /** Writes refused because another transaction was changing the same item. */
  transactionConflicts(): cloudwatch.Metric {
    return this.table.metric('TransactionConflict', {
      statistic: 'Sum',
      dimensionsMap: { TableName: this.table.tableName },
    });
  }

  /** Throttled reads or writes of the table, or of the given index. */
  throttles(kind: 'Read' | 'Write', index?: string): cloudwatch.Metric {
    return this.table.metric(`${kind}ThrottleEvents`, {
      statistic: 'Sum',
      dimensionsMap: {
        TableName: this.table.tableName,
        ...(index !== undefined && { GlobalSecondaryIndexName: index }),
      },
    });
  }
}

function text(name: string): dynamodb.Attribute {
  return { name, type: dynamodb.AttributeType.STRING };
}

function binary(name: string): dynamodb.Attribute {
  return { name, type: dynamodb.AttributeType.BINARY };
}
