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
