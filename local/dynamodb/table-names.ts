import type { TableVariable } from '../../contract/environment.ts';
import type { FunctionDefinition } from '../template/functions.ts';

/** Table names by the environment variable that contains them. */
export type TableNames = Readonly<Record<TableVariable, string>>;

/** Collects the table names from the functions' environments. */
export function tableNames(functions: readonly FunctionDefinition[]): TableNames {
  const variables = functions.flatMap(({ environment }) => Object.entries(environment));
  return Object.fromEntries(variables.filter(([name]) => name.endsWith('_TABLE'))) as TableNames;
}
