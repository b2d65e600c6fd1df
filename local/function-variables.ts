import type { Variables } from 'aws-emulator';
import { type DeployedSettings, settingNames } from '../contract/environment.ts';
import type { TableVariable } from '../contract/tables.ts';

export interface LocalValues {
  /** Is added to the extra push origins. */
  readonly pushServiceOrigin: string;
  /** Of the gateway, in place of the deployed API. */
  readonly baseUrl: string;
  /** Values that replace the template's. */
  readonly overrides?: Readonly<Partial<Record<string, string>>> | undefined;
}

/** The variables of a function in the local stack, given those of the template. */
export function localVariables(
  variables: Variables,
  { pushServiceOrigin, baseUrl, overrides = {} }: LocalValues,
): Variables {
  const replaced = Object.entries(variables).map(([name, templateValue]) => {
    const value = overrides[name] ?? (name === 'PUBLIC_BASE_URL' ? baseUrl : templateValue);
    if (name !== 'EXTRA_PUSH_ORIGINS') return [name, value];
    return [name, [...value.split(',').filter(Boolean), pushServiceOrigin].join(',')];
  });
  return Object.fromEntries(replaced);
}

/** Table names by the environment variable that contains them. */
export type TableNames = Readonly<Record<TableVariable, string>>;

export function tableNames(environments: Iterable<Variables>): TableNames {
  const variables = [...environments].flatMap((environment) => Object.entries(environment));
  return Object.fromEntries(variables.filter(([name]) => name.endsWith('_TABLE'))) as TableNames;
}

/** The operator's settings, as environment variables. */
export type SettingValues = Readonly<Record<keyof DeployedSettings, string>>;

/** The operator's settings among the variables of functions. */
export function settingValues(environments: Iterable<Variables>): SettingValues {
  const variables: Record<string, string> = Object.assign({}, ...environments);
  return Object.fromEntries(settingNames.map((name) => [name, variables[name]!])) as SettingValues;
}
