import { DescribeTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DeployedStack, Template } from '../deployed-stack.ts';
import { CommandError } from '../errors.ts';

/** Properties that CloudFormation cannot change: it creates another table instead, which is empty. */
const fixedProperties = ['KeySchema', 'TableName', 'ImportSourceSpecification'];

/** @throws {CommandError} if an update would replace or remove a table, or would fail at one. */
export async function checkTables(stack: DeployedStack, after: Template): Promise<void> {
  const before = await stack.template();
  const lost: string[] = [];
  const changed: string[] = [];
  for (const [id, { Type, Properties = {} }] of Object.entries(before.Resources)) {
    if (Type !== 'AWS::DynamoDB::Table') continue;
    const next = after.Resources[id]?.Properties;
    if (!fixedProperties.every((name) => isSame(Properties[name], next?.[name]))) lost.push(id);
    else if (!isSame(Properties, next)) changed.push(id);
  }
  if (lost.length > 0) {
    throw new CommandError(
      'table_replaced',
      `The update would replace or remove ${lost.join(', ')}, and the new table would be empty. Nothing was changed in AWS. Deploy this version as another stage, and move the projects: see "Replaced tables" in docs/deploy.md.`,
    );
  }
  if (changed.length > 0) await checkWarmWrites(stack, after, changed);
}

/** DynamoDB raises by itself what a table takes, and refuses to lower it: the update would fail. */
async function checkWarmWrites(
  stack: DeployedStack,
  { Resources }: Template,
  ids: readonly string[],
): Promise<void> {
  const dynamo = new DynamoDBClient();
  for (const { id, name } of await stack.resources()) {
    const asked = Resources[id]?.Properties?.WarmThroughput as Throughput | undefined;
    if (!ids.includes(id) || asked === undefined) continue;
    const { Table } = await dynamo.send(new DescribeTableCommand({ TableName: name }));
    const taken = Table?.WarmThroughput?.WriteUnitsPerSecond ?? 0;
    if (taken > asked.WriteUnitsPerSecond) {
      throw new CommandError(
        'table_lowered',
        `${id} takes ${taken} writes per second now. DynamoDB cannot lower that, so nothing was changed in AWS. Use --set warmWritesPerSecond=${taken}`,
      );
    }
  }
}

interface Throughput {
  readonly WriteUnitsPerSecond: number;
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
