import type { FunctionDefinition } from '../template/functions.ts';

export interface ManagedFunctions {
  readonly functions: readonly FunctionDefinition[];
  /** The variables of each function, by its name. */
  readonly environments: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Executions at a time of all functions. */
  readonly accountConcurrency: number;
}

/**
 * The response of an operation that only reads, for operators: GetAccountSettings and GetFunctionConfiguration.
 * https://docs.aws.amazon.com/lambda/latest/api/API_GetAccountSettings.html
 * https://docs.aws.amazon.com/lambda/latest/api/API_GetFunctionConfiguration.html
 * @returns undefined for any other request, and for an unknown function.
 */
export function describe(
  method: string | undefined,
  url: string,
  { functions, environments, accountConcurrency }: ManagedFunctions,
): object | undefined {
  if (method !== 'GET') return undefined;
  if (/^\/2016-08-19\/account-settings\/?$/.test(url)) {
    return { AccountLimit: { ConcurrentExecutions: accountConcurrency } };
  }
  const [, name] = /^\/2015-03-31\/functions\/([^/?]+)\/configuration$/.exec(url) ?? [];
  const definition = functions.find((known) => known.name === name);
  if (definition === undefined) return undefined;
  return {
    FunctionName: definition.name,
    FunctionArn: definition.arn,
    State: 'Active',
    LastUpdateStatus: 'Successful',
    Environment: { Variables: environments.get(definition.name) },
  };
}
