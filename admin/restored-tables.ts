import { ListTablesCommand, type TableDescription } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { constructIdOf, type RestoredTables } from '../contract/infrastructure/tables.ts';
import { CommandError } from './errors.ts';
import { describeTable } from './lost-tables.ts';

/**
 * Checks that each restored table is there to be read, and has the keys of the stack's table that it is given for.
 * @returns the moment of the backup, as far as AWS says it.
 * @throws {CommandError}
 */
export async function checkRestoredTables(
  dynamo: DynamoDBDocumentClient,
  restored: RestoredTables,
  own: RestoredTables,
): Promise<Date | undefined> {
  let time: Date | undefined;
  for (const name of Object.keys(restored) as (keyof RestoredTables)[]) {
    const ownTable = await describeTable(dynamo, own[name]);
    if (ownTable === undefined) {
      throw new CommandError(
        'table_missing',
        `The stack's own table ${constructIdOf(name)}, "${own[name]}", does not exist. Bring it back first: carillon tables restore.`,
      );
    }
    const table = await describeTable(dynamo, restored[name]);
    const expected = keysOf(ownTable);
    if (table === undefined) {
      const mistake = `There is no table "${restored[name]}" in this region.`;
      throw wrongTable(`${mistake} ${await advice(expected)}`);
    }
    if (keysOf(table) !== expected) {
      const mistake = `"${restored[name]}" is another table: its keys are ${keysOf(table)}, those of "${own[name]}" are ${expected}.`;
      throw wrongTable(`${mistake} ${await advice(expected)}`);
    }
    // Until then, a read says that there is no such table.
    if (table.TableStatus === 'CREATING') {
      throw wrongTable(
        `AWS is still restoring the table "${restored[name]}". Wait for all five: docs/backup.md has the command.`,
      );
    }
    time ??= table.RestoreSummary?.RestoreDateTime;
  }
  return time;

  async function advice(expected: string | undefined): Promise<string> {
    const candidates: string[] = [];
    for (const table of await tableNames()) {
      const isOwn = Object.values(own).includes(table);
      if (!isOwn && keysOf(await describeTable(dynamo, table)) === expected) candidates.push(table);
    }
    return candidates.length === 0
      ? 'No table but those of the stack has these keys: restore one first, see docs/backup.md.'
      : `Tables with the right keys: ${candidates.join(', ')}.`;
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

/** A table that the operator named for a restore is not the one. */
function wrongTable(message: string): CommandError {
  return new CommandError('wrong_table', message);
}

const keysOf = (table: TableDescription | undefined) =>
  table?.KeySchema?.map(({ AttributeName }) => AttributeName).join(' and ');
