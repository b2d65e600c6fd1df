import { ListTablesCommand, RestoreTableToPointInTimeCommand } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { constructIdOf, type RestoredTables } from '../contract/infrastructure/tables.ts';
import { CommandError } from './errors.ts';
import { describeTable, encryptionOf } from './lost-tables.ts';

/** The tables whose items of a second `restore` copies. */
export const restoredTableNames = [
  'projects',
  'vapidKeys',
  'identityKeys',
  'subscriptions',
  'usage',
] as const satisfies readonly (keyof RestoredTables)[];

/** The tables with the items of a second, beside those of the stack: each has the second after the name of its own table. */
export function tablesAt(own: RestoredTables, second: Date): RestoredTables {
  const suffix = `-${secondText(second).replaceAll(':', '.')}`;
  const names = restoredTableNames.map((table) => [table, own[table] + suffix]);
  return Object.fromEntries(names) as Record<keyof RestoredTables, string>;
}

/** RFC 3339. AWS restores whole seconds. */
export function secondText(second: Date): string {
  return second.toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Lets AWS restore the tables of a second beside those of the stack, unless they are there. @throws {CommandError} */
export async function restoreBeside(
  dynamo: DynamoDBDocumentClient,
  own: RestoredTables,
  second: Date,
): Promise<void> {
  const restored = tablesAt(own, second);
  await requireOwn(dynamo, own);
  for (const table of restoredTableNames) {
    if ((await describeTable(dynamo, restored[table])) !== undefined) continue;
    const encryption = encryptionOf(table);
    await dynamo.send(
      new RestoreTableToPointInTimeCommand({
        ...{ SourceTableName: own[table], TargetTableName: restored[table] },
        RestoreDateTime: new Date(secondText(second)),
        ...(encryption && { SSESpecificationOverride: encryption }),
      }),
    );
  }
}

/** Checks that the tables of a second can be read. @throws {CommandError} */
export async function checkRestoredTables(
  dynamo: DynamoDBDocumentClient,
  own: RestoredTables,
  second: Date,
): Promise<RestoredTables> {
  const restored = tablesAt(own, second);
  await requireOwn(dynamo, own);
  for (const table of restoredTableNames) {
    const state = (await describeTable(dynamo, restored[table]))?.TableStatus;
    // AWS creates them: until then, a read says that there is no such table.
    if (state !== undefined && state !== 'CREATING') continue;
    const others = (await restoredSeconds(dynamo, own.projects)).join(', ');
    throw new CommandError(
      'not_restored',
      `${state === undefined ? 'There is no table' : 'AWS is still restoring'} "${restored[table]}". ` +
        `First: carillon tables restore --at ${secondText(second)}, which waits for all five.` +
        `${others && ` Tables of these seconds exist: ${others}.`}`,
    );
  }
  return restored;
}

/** @throws {CommandError} if the stack lacks one of its own tables. */
async function requireOwn(dynamo: DynamoDBDocumentClient, own: RestoredTables): Promise<void> {
  for (const table of restoredTableNames) {
    if ((await describeTable(dynamo, own[table])) !== undefined) continue;
    throw new CommandError(
      'table_missing',
      `The stack's own table ${constructIdOf(table)}, "${own[table]}", does not exist. Bring it back first: carillon tables restore.`,
    );
  }
}

/** The seconds of the restored tables in this region. */
async function restoredSeconds(dynamo: DynamoDBDocumentClient, projects: string) {
  const seconds: string[] = [];
  let last: string | undefined;
  do {
    const page = await dynamo.send(new ListTablesCommand({ ExclusiveStartTableName: last }));
    for (const name of page.TableNames ?? []) {
      const second = name.startsWith(`${projects}-`) && name.slice(projects.length + 1);
      if (second) seconds.push(second.replaceAll('.', ':'));
    }
    last = page.LastEvaluatedTableName;
  } while (last !== undefined);
  return seconds;
}
