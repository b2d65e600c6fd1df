import { DescribeTableCommand, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { WrongRestoredTable } from './project-errors.ts';
import type { RestoredTables } from './restore.ts';

/**
 * Checks that each restored table exists, and has the keys of the stack's table that it is given for.
 * @throws {WrongRestoredTable}
 */
export async function checkRestoredTables(
  dynamo: DynamoDBDocumentClient,
  restored: RestoredTables,
  own: RestoredTables,
): Promise<void> {
  for (const name of Object.keys(restored) as (keyof RestoredTables)[]) {
    const keys = await keysOf(restored[name]);
    const expected = await keysOf(own[name]);
    if (keys === expected) continue;
    const mistake =
      keys === undefined
        ? `There is no table "${restored[name]}" in this region.`
        : `"${restored[name]}" is another table: its keys are ${keys}, those of "${own[name]}" are ${expected}.`;
    throw new WrongRestoredTable(`${mistake} ${await advice(expected)}`);
  }

  async function advice(expected: string | undefined): Promise<string> {
    const candidates: string[] = [];
    for (const table of await tableNames()) {
      const isOwn = Object.values(own).includes(table);
      if (!isOwn && (await keysOf(table)) === expected) candidates.push(table);
    }
    return candidates.length === 0
      ? 'No table but those of the stack has these keys: restore one first, see docs/backup.md.'
      : `Tables with the right keys: ${candidates.join(', ')}.`;
  }

  /** @returns undefined: there is no such table. */
  async function keysOf(TableName: string): Promise<string | undefined> {
    try {
      const { Table } = await dynamo.send(new DescribeTableCommand({ TableName }));
      return Table!.KeySchema!.map(({ AttributeName }) => AttributeName).join(' and ');
    } catch (error) {
      // ValidationException: no table can have this name.
      const { name } = error as Error;
      if (['ResourceNotFoundException', 'ValidationException'].includes(name)) return undefined;
      throw error;
    }
  }

  async function tableNames(): Promise<readonly string[]> {
    const names: string[] = [];
    let last: string | undefined;
    do {
      const page = await dynamo.send(new ListTablesCommand({ ExclusiveStartTableName: last }));
      names.push(...(page.TableNames ?? []));
      last = page.LastEvaluatedTableName;
    } while (last !== undefined);
    return names;
  }
}
