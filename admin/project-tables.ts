import {
  type ProjectTables,
  type TableVariable,
  tableVariables,
} from '../contract/infrastructure/tables.ts';

/** @param names table names by the environment variable that contains them. */
export function projectTables(names: Readonly<Record<TableVariable, string>>): ProjectTables {
  const tables = Object.entries(tableVariables).map(([table, variable]) => [
    table,
    names[variable],
  ]);
  return Object.fromEntries(tables) as ProjectTables;
}
