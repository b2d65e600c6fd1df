import {
  DescribeTableCommand,
  ListTablesCommand,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { nearestName } from '../contract/nearest-name.ts';
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
    if (keys === undefined) {
      const nearest = nearestName(restored[name], await tableNames());
      const question = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
      throw new WrongRestoredTable(
        `There is no table "${restored[name]}" in this region.${question}`,
      );
    }
    const expected = await keysOf(own[name]);
    if (keys !== expected) {
      throw new WrongRestoredTable(
        `"${restored[name]}" is another table: its keys are ${keys}, those of "${own[name]}" are ${expected}.`,
      );
    }
  }

  /** @returns undefined: there is no such table. */
  async function keysOf(TableName: string): Promise<string | undefined> {
    try {
      const { Table } = await dynamo.send(new DescribeTableCommand({ TableName }));
      return Table!.KeySchema!.map(({ AttributeName }) => AttributeName).join(' and ');
    } catch (error) {
      if (error instanceof ResourceNotFoundException) return undefined;
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
