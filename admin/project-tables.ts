import { type TableName, type TableVariable, tableVariables } from '../contract/environment.ts';

/** Names of the tables with items of projects. */
export type ProjectTables = Readonly<Record<Exclude<TableName, 'rateLimits'>, string>>;

/** Those that a backup has. */
export type RestoredTables = Omit<ProjectTables, 'notifications' | 'deliveries'>;

/** @param names table names by the environment variable that contains them. */
export function projectTables(names: Readonly<Record<TableVariable, string>>): ProjectTables {
  const tables = Object.entries(tableVariables).map(([table, variable]) => [
    table,
    names[variable],
  ]);
  return Object.fromEntries(tables) as ProjectTables;
}
