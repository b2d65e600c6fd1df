import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  type TimeToLiveSpecification,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { localConfig } from '../../admin/local-config.ts';
import { resetAdvice } from '../data-directory.ts';
import { type Resolve, resourcesOf, type Template, textResolver } from '../template.ts';

interface TableProperties {
  readonly AttributeDefinitions: CreateTableCommandInput['AttributeDefinitions'];
  readonly KeySchema: CreateTableCommandInput['KeySchema'];
  readonly GlobalSecondaryIndexes?: CreateTableCommandInput['GlobalSecondaryIndexes'];
  readonly TimeToLiveSpecification?: TimeToLiveSpecification;
}

/**
 * Creates the template's tables. Existing tables are left unchanged.
 * @returns the table names by logical id.
 * @throws {Error} if an existing table has other keys or indexes than in the template.
 */
export async function createTables(
  template: Template,
  endpoint: string,
  resolve: Resolve,
): Promise<Readonly<Record<string, string>>> {
  const text = textResolver(resolve);
  const client = localClient(endpoint);
  try {
    const tables = resourcesOf(template, 'AWS::DynamoDB::Table');
    const names = tables.map(async ([logicalId, { Properties = {} }]) => {
      const name = text({ Ref: logicalId }, logicalId);
      const properties = resolve(Properties, logicalId) as TableProperties;
      await createTable(client, name, properties);
      await enableTimeToLive(client, name, properties);
      return [logicalId, name] as const;
    });
    return Object.fromEntries(await Promise.all(names));
  } finally {
    client.destroy();
  }
}

/** A client of the local database. */
export function localClient(endpoint: string): DynamoDBClient {
  return new DynamoDBClient(localConfig(endpoint));
}

async function createTable(
  client: DynamoDBClient,
  name: string,
  properties: TableProperties,
): Promise<void> {
  // Only the properties that affect the functions. The engines reject some of the others: tags,
  // recovery, deletion protection, capacity.
  const input: CreateTableCommandInput = {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: properties.AttributeDefinitions,
    KeySchema: properties.KeySchema,
    GlobalSecondaryIndexes: properties.GlobalSecondaryIndexes?.map(
      ({ IndexName, KeySchema, Projection }) => ({ IndexName, KeySchema, Projection }),
    ),
  };
  try {
    await client.send(new CreateTableCommand(input));
  } catch (error) {
    if ((error as Error).name !== 'ResourceInUseException') throw error;
    const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
    if (keysOf(Table) !== keysOf(input)) {
      throw new Error(
        `Table "${name}" has other keys or indexes than in the template: its data were written ` +
          `by another version. ${resetAdvice}`,
      );
    }
  }
}

interface Keyed {
  readonly KeySchema?: readonly { AttributeName?: string | undefined }[] | undefined;
  readonly GlobalSecondaryIndexes?:
    | readonly (Omit<Keyed, 'GlobalSecondaryIndexes'> & { IndexName?: string | undefined })[]
    | undefined;
}

/** The keys of a table and of its indexes, as text that can be compared. */
function keysOf(table: Keyed | undefined): string {
  const names = (keyed: Keyed | undefined) =>
    (keyed?.KeySchema ?? []).map(({ AttributeName }) => AttributeName);
  const indexes = (table?.GlobalSecondaryIndexes ?? []).map((index) => [
    index.IndexName,
    ...names(index),
  ]);
  return JSON.stringify([names(table), indexes.sort()]);
}

/** CreateTable has no parameter for TTL. */
async function enableTimeToLive(
  client: DynamoDBClient,
  name: string,
  { TimeToLiveSpecification: specification }: TableProperties,
): Promise<void> {
  if (specification?.Enabled !== true) return;
  // The engines refuse to enable TTL twice.
  const { TimeToLiveDescription } = await client.send(
    new DescribeTimeToLiveCommand({ TableName: name }),
  );
  if (TimeToLiveDescription?.TimeToLiveStatus === 'ENABLED') return;
  await client.send(
    new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification: specification }),
  );
}
