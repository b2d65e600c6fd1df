import { type RemovalPolicy, Stack } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
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

/** Tables to which each event is a write. */
const eventTables: readonly TableName[] = ['deliveries', 'rateLimits'];

export interface TableProps {
  readonly removalPolicy: RemovalPolicy;
  /** Write capacity, in units per second, at which the event tables start. Default: 4,000, as any new table. */
  readonly warmWritesPerSecond: number | undefined;
  /** Days to which the tables can be restored: 1 to 35. */
  readonly recoveryDays: number;
  /** Undefined: a key of AWS. */
  readonly encryptionKey: kms.IKey | undefined;
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
  private readonly encryptionKey: kms.IKey | undefined;

  constructor(scope: Construct, name: TableName, props: TableProps) {
    super(scope, constructIdOf(name));
    this.name = name;
    this.encryptionKey = props.encryptionKey;
    const its: TableKey = tableKeys[name];
    const { partitionKey, sortKey, hasBinarySortKey } = its;
    this.table = new dynamodb.Table(this, 'Table', {
      partitionKey: text(partitionKey),
      ...(sortKey && { sortKey: hasBinarySortKey ? binary(sortKey) : text(sortKey) }),
      ...(its.expires && { timeToLiveAttribute: 'expiresAt' }),
      ...(its.isUseLogged && { encryption: dynamodb.TableEncryption.AWS_MANAGED }),
      ...(props.encryptionKey && {
        encryption: dynamodb.TableEncryption.CUSTOMER_MANAGED,
        encryptionKey: props.encryptionKey,
      }),
      ...(eventTables.includes(name) &&
        props.warmWritesPerSecond && {
          warmThroughput: { writeUnitsPerSecond: props.warmWritesPerSecond },
        }),
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: its.hasNoRecovery
        ? { pointInTimeRecoveryEnabled: false }
        : { pointInTimeRecoveryEnabled: true, recoveryPeriodInDays: props.recoveryDays },
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
    if (its.hasNoRecovery) {
      const reason = 'An item counts the requests of one minute. No backup is needed.';
      acknowledgeRule(this.table, { id: 'AwsSolutions-DDB3', reason });
    }
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
    if (this.encryptionKey) fn.addToRolePolicy(this.decryption(this.encryptionKey));
    fn.addEnvironment(tableVariables[this.name], this.tableName);
  }

  /**
   * Each read and write decrypts the table's own key, and does nothing else with the key of the account. CDK's grants would
   * also allow to encrypt.
   */
  private decryption({ keyArn }: kms.IKey): iam.PolicyStatement {
    const { region, urlSuffix } = Stack.of(this);
    return new iam.PolicyStatement({
      actions: ['kms:Decrypt'],
      resources: [keyArn],
      conditions: { StringEquals: { 'kms:ViaService': `dynamodb.${region}.${urlSuffix}` } },
    });
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
