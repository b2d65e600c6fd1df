import type { ProjectTables } from '../../admin/project-tables.ts';
import { type EnvironmentName, environment } from '../../contract/environment.ts';
import type { FunctionDefinition } from '../template/functions.ts';

export type TableVariable = Extract<EnvironmentName, `${string}_TABLE`>;

/** Names of the tables by the environment variable that tells them to a function. */
export type TableNames = Readonly<Record<TableVariable, string>>;

const variables = Object.values(environment).filter((name): name is TableVariable =>
  name.endsWith('_TABLE'),
);

/**
 * The tables' names as the functions know them.
 * @throws {Error} where no function knows one of them.
 */
export function tableNames(functions: readonly FunctionDefinition[]): TableNames {
  const known: Readonly<Record<string, string>> = Object.assign(
    {},
    ...functions.map(({ environment: given }) => given),
  );
  const missing = variables.filter((name) => known[name] === undefined);
  if (missing.length > 0) throw new Error(`No function of the template has ${missing.join(', ')}.`);
  return Object.fromEntries(variables.map((name) => [name, known[name]])) as TableNames;
}

/** The tables that a project's items lie in. */
export function projectTables(names: TableNames): ProjectTables {
  return {
    projects: names.PROJECTS_TABLE,
    vapidKeys: names.VAPID_KEYS_TABLE,
    subscriptions: names.SUBSCRIPTIONS_TABLE,
    usage: names.USAGE_TABLE,
    notifications: names.NOTIFICATIONS_TABLE,
  };
}
