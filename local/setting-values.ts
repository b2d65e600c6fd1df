import { type DeployedSettings, settingNames } from '../contract/environment.ts';

/** The operator's settings, as environment variables. */
export type SettingValues = Readonly<Record<keyof DeployedSettings, string>>;

/** The operator's settings among the variables of functions. */
export function settingValues(
  environments: Iterable<Readonly<Record<string, string>>>,
): SettingValues {
  const variables: Record<string, string> = Object.assign({}, ...environments);
  return Object.fromEntries(settingNames.map((name) => [name, variables[name]!])) as SettingValues;
}
