import type { ProjectTables } from '../../admin/project-tables.ts';
import { type EnvironmentName, environment } from '../../contract/environment.ts';
import type { FunctionDefinition } from '../template/functions.ts';

export type TableVariable = Extract<EnvironmentName, `${string}_TABLE`>;

/** Table names by the environment variable that contains them. */
export type TableNames = Readonly<Record<TableVariable, string>>;

const variables = Object.values(environment).filter((name): name is TableVariable =>
  name.endsWith('_TABLE'),
);

/**
 * Reads the table names from the functions' environments.
 * @throws {Error} if no function has one of the variables.
 */
export function tableNames(functions: readonly FunctionDefinition[]): TableNames {
  const values: Readonly<Record<string, string>> = Object.assign(
    {},
    ...functions.map((definition) => definition.environment),
  );
  const missing = variables.filter((name) => values[name] === undefined);
  if (missing.length > 0) throw new Error(`No function of the template has ${missing.join(', ')}.`);
  return Object.fromEntries(variables.map((name) => [name, values[name]])) as TableNames;
}

/** The tables that contain a project's items. */
export function projectTables(names: TableNames): ProjectTables & { readonly tallies: string } {
  return {
    projects: names.PROJECTS_TABLE,
    vapidKeys: names.VAPID_KEYS_TABLE,
    subscriptions: names.SUBSCRIPTIONS_TABLE,
    usage: names.USAGE_TABLE,
    notifications: names.NOTIFICATIONS_TABLE,
    tallies: names.TALLIES_TABLE,
  };
}
