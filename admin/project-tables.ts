import {
  type TableName,
  type TableVariable,
  tableVariables,
} from '../contract/infrastructure/tables.ts';

/** @param names table names by the environment variable that contains them. */
export function projectTables(
  names: Readonly<Record<TableVariable, string>>,
): Readonly<Record<TableName, string>> {
  const tables = Object.entries(tableVariables).map(([table, variable]) => [
    table,
    names[variable],
  ]);
  return Object.fromEntries(tables) as Record<TableName, string>;
}
