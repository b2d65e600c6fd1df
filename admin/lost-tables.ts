import {
  type BackupSummary,
  CreateTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  ListBackupsCommand,
  ListTagsOfResourceCommand,
  RestoreTableFromBackupCommand,
  type TableDescription,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { DeployedSettings } from '../contract/infrastructure/environment.ts';
import { serviceTag } from '../contract/infrastructure/stack-name.ts';
import {
  byUser,
  constructIdOf,
  type TableKey,
  type TableName,
  tableKeys,
  tableNames,
} from '../contract/infrastructure/tables.ts';

export interface TablesDependencies {
  readonly dynamo: DynamoDBDocumentClient;
  readonly tables: Readonly<Record<TableName, string>>;
  /** The value of the tag that the service's resources have. Undefined: a local stack, which has neither backups nor tags. */
  readonly service: string | undefined;
}

/** @returns undefined if there is no such table. */
export async function describeTable(
  dynamo: DynamoDBDocumentClient,
  TableName: string,
): Promise<TableDescription | undefined> {
  try {
    return (await dynamo.send(new DescribeTableCommand({ TableName }))).Table;
  } catch (error) {
    // ValidationException: no table can have this name.
    const { name } = error as Error;
    if (['ResourceNotFoundException', 'ValidationException'].includes(name)) return undefined;
    throw error;
  }
}

/** A table of the stack that does not exist. */
export interface LostTable {
  readonly table: TableName;
  /** Its name on AWS. */
  readonly name: string;
  /** AWS's backup of the moment at which it was deleted. Undefined: it can only be created empty. */
  readonly backup: { readonly arn: string; readonly time: Date } | undefined;
}

/** Finds the tables that were deleted, with AWS's backups of them. */
export async function lostTables(deps: TablesDependencies): Promise<readonly LostTable[]> {
  const { dynamo, tables, service } = deps;
  const states = await Promise.all(tableNames.map((table) => describeTable(dynamo, tables[table])));
  const lost = tableNames.filter((_, index) => states[index] === undefined);
  const backups = lost.length === 0 || service === undefined ? [] : await systemBackups(dynamo);
  return lost.map((table) => {
    const name = tables[table];
    const [newest] = backups
      .filter(({ TableName }) => TableName === name)
      .sort(
        (one, other) => Number(other.BackupCreationDateTime) - Number(one.BackupCreationDateTime),
      );
    return {
      table,
      name,
      backup: newest && { arn: newest.BackupArn!, time: newest.BackupCreationDateTime! },
    };
  });
}

/** Lost tables as messages name them. */
export function lostTableNames(lost: readonly LostTable[]): string {
  return lost.map(({ table, name }) => `${constructIdOf(table)} ("${name}")`).join(', ');
}

/** The backups that AWS makes of tables with point-in-time recovery when they are deleted, and keeps for 35 days. */
async function systemBackups(dynamo: DynamoDBDocumentClient): Promise<readonly BackupSummary[]> {
  const found: BackupSummary[] = [];
  let from: string | undefined;
  do {
    const page = await dynamo.send(
      new ListBackupsCommand({ BackupType: 'SYSTEM', ExclusiveStartBackupArn: from }),
    );
    found.push(...(page.BackupSummaries ?? []));
    from = page.LastEvaluatedBackupArn;
  } while (from !== undefined);
  return found;
}

/** Lets AWS restore a table under its own name, or creates it empty. It can be used when it is `ACTIVE`. */
export async function bringBack(
  { dynamo }: Pick<TablesDependencies, 'dynamo'>,
  { table, name, backup }: LostTable,
): Promise<void> {
  const encryption = encryptionOf(table);
  if (backup === undefined) {
    const input: CreateTableCommand['input'] = {
      ...{ TableName: name, BillingMode: 'PAY_PER_REQUEST', ...keysOfTable(table) },
      ...(encryption && { SSESpecification: encryption }),
    };
    await dynamo.send(new CreateTableCommand(input));
    return;
  }
  await dynamo.send(
    new RestoreTableFromBackupCommand({
      TargetTableName: name,
      BackupArn: backup.arn,
      ...(encryption && { SSESpecificationOverride: encryption }),
    }),
  );
}

/** The encryption of a table that is not encrypted with the default key. */
export function encryptionOf(table: TableName) {
  const { isUseLogged }: TableKey = tableKeys[table];
  return isUseLogged && { Enabled: true, SSEType: 'KMS' as const };
}

/** The keys and the index of a table, as CreateTable takes them and the template has them. */
export function keysOfTable(table: TableName) {
  const own: TableKey = tableKeys[table];
  const index = table === 'subscriptions' ? byUser : undefined;
  const types = new Map<string, 'S' | 'B' | 'N'>([[own.partitionKey, 'S']]);
  if (own.sortKey) types.set(own.sortKey, own.hasBinarySortKey ? 'B' : 'S');
  if (index) types.set(index.partitionKey, 'S').set(index.sortKey, 'N');
  return {
    AttributeDefinitions: [...types].map(([AttributeName, AttributeType]) => ({
      AttributeName,
      AttributeType,
    })),
    KeySchema: keySchema(own),
    ...(index && {
      GlobalSecondaryIndexes: [
        {
          IndexName: index.name,
          KeySchema: keySchema(index),
          Projection: { ProjectionType: 'KEYS_ONLY' as const },
        },
      ],
    }),
  } satisfies Partial<CreateTableCommand['input']>;
}

function keySchema({ partitionKey, sortKey }: Pick<TableKey, 'partitionKey' | 'sortKey'>) {
  return [
    { AttributeName: partitionKey, KeyType: 'HASH' as const },
    ...(sortKey ? [{ AttributeName: sortKey, KeyType: 'RANGE' as const }] : []),
  ];
}

/** What a table of the stack lacks besides items: AWS restores none of these. */
export type TableLack = 'recovery' | 'expiry' | 'tag';

/** Finds what the tables lack that exist. A local stack has neither recovery nor tags. */
export async function lacksOf(
  { dynamo, tables, service }: TablesDependencies,
  table: TableName,
): Promise<readonly TableLack[]> {
  const TableName = tables[table];
  const { expires, hasNoRecovery }: TableKey = tableKeys[table];
  const lacks: TableLack[] = [];
  if (expires) {
    const { TimeToLiveDescription: found } = await dynamo.send(
      new DescribeTimeToLiveCommand({ TableName }),
    );
    if (!found?.TimeToLiveStatus?.startsWith('ENABL')) lacks.push('expiry');
  }
  if (service === undefined) return lacks;
  if (!hasNoRecovery) {
    const { ContinuousBackupsDescription: found } = await dynamo.send(
      new DescribeContinuousBackupsCommand({ TableName }),
    );
    const status = found?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus;
    if (status !== 'ENABLED') lacks.push('recovery');
  }
  const { Tags = [] } = await dynamo.send(
    new ListTagsOfResourceCommand({ ResourceArn: await arnOf(dynamo, TableName) }),
  );
  if (!Tags.some(({ Key, Value }) => Key === serviceTag && Value === service)) lacks.push('tag');
  return lacks;
}

/** Gives a table what it lacks. */
export async function complete(
  {
    dynamo,
    tables,
    service,
    settings,
  }: TablesDependencies & { readonly settings: Pick<DeployedSettings, 'RECOVERY_DAYS'> },
  table: TableName,
  lacks: readonly TableLack[],
): Promise<void> {
  const TableName = tables[table];
  if (lacks.includes('expiry')) {
    const TimeToLiveSpecification = { AttributeName: 'expiresAt', Enabled: true };
    await dynamo.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  }
  if (lacks.includes('recovery')) {
    const PointInTimeRecoverySpecification = {
      PointInTimeRecoveryEnabled: true,
      RecoveryPeriodInDays: settings.RECOVERY_DAYS,
    };
    const input = { TableName, PointInTimeRecoverySpecification };
    await dynamo.send(new UpdateContinuousBackupsCommand(input));
  }
  if (lacks.includes('tag')) {
    const ResourceArn = await arnOf(dynamo, TableName);
    const Tags = [{ Key: serviceTag, Value: service }];
    await dynamo.send(new TagResourceCommand({ ResourceArn, Tags }));
  }
}

async function arnOf(dynamo: DynamoDBDocumentClient, TableName: string): Promise<string> {
  return (await describeTable(dynamo, TableName))!.TableArn!;
}
