import { type Command, InvalidArgumentError, Option } from 'commander';
import { countText } from '../../contract/text/text.ts';
import { oldWorkerNames } from '../../contract/wire/message.ts';
import {
  defaultOf,
  type SetSettings,
  type SettingKind,
  type SettingName,
  type SettingOfKind,
  settingNames,
  settingOf,
} from '../../contract/wire/project.ts';
import { type RouteName, routeNames } from '../../contract/wire/routes.ts';
import { settingTexts } from '../../contract/wording/setting-texts.ts';
import type { SettingChanges } from '../project-registry.ts';
import { printable } from '../terminal/terminal.ts';
import { projectCommand, type RunOnStack, readName, readOrigin } from './command.ts';
import { type ProjectView, projectText, projectView } from './show.ts';

/** Long enough for a push to each browser, and for its look for another service worker a day later. */
const longestMoveDays = 90;

export function setCommand(runOnStack: RunOnStack): Command {
  const command = addSettingOptions(
    projectCommand(
      'set',
      'Changes the settings of a project.',
      ...['my-site --name "My new site"', 'my-site --subscriber-cap 5000 --send-cap default'],
      ...['my-site --user-ids signed', 'my-site --old-worker none', 'my-site --shown-sample 10'],
    ),
  );
  return command.action(async (projectId: string, options: SettingOptions) => {
    const changes = readSettings(command, options);
    if (Object.keys(changes).length === 0) {
      const names = Object.values(settingOptions).map(({ long }) => long);
      command.error(`nothing to change: give at least one of ${names.join(', ')}`);
    }
    await runOnStack(async ({ registry, settings, paint, print, next }) => {
      const project = await registry.set(projectId, changes);
      const view = projectView(project, settings, await registry.usage(projectId));
      const warning = 'subscriberCap' in changes ? capWarning(view) : undefined;
      const notes = [
        ...(warning === undefined ? [] : [`\n${paint('yellow', warning)}\n`]),
        ...(changes.userIds === 'signed'
          ? [signedNote(next(`users delete <userId> --project ${projectId}`))]
          : []),
      ];
      print({ ...view, warning }, projectText(view, paint) + notes.join(''));
    });
  });
}

const dayMs = 24 * 60 * 60_000;

/** @returns the end of the day, ISO 8601. @throws {InvalidArgumentError} */
function readUntil(text: string): string {
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const [least, most] = [today, today + longestMoveDays * dayMs].map((time) => new Date(time));
  if (day >= least!.getTime() && day <= most!.getTime()) return new Date(day + dayMs).toISOString();
  const days = [least, most].map((one) => one!.toISOString().slice(0, 'YYYY-MM-DD'.length));
  throw new InvalidArgumentError(`Use a day from ${days.join(' to ')}.`);
}

/** Nobody notices later: the cap removes no subscriber. */
function capWarning({ usage: { subscribers }, limits: { subscriberCap } }: ProjectView) {
  if (subscriberCap === null || subscribers <= subscriberCap) return undefined;
  return (
    `The subscriber cap, ${countText(subscriberCap)}, is below the number of subscribers, ` +
    `${countText(subscribers)}. All of them stay, and new ones are refused.`
  );
}

/** What an operator has to know who requires signatures. */
function signedNote(deleteCall: string): string {
  return (
    '\nWithin 30 seconds, every new user id needs a signature. Subscriptions that already have a user id\n' +
    `keep it, with or without one. To remove those of a user:\n\n  ${deleteCall}\n`
  );
}

interface Kind<Row> {
  /** @param option with what it takes, as the help shows it. */
  readonly option: (option: (usage: string) => Option, row: Row) => Option;
  /** The value that the option says. Undefined: the default. */
  readonly value: (given: unknown, row: Row, until: string | undefined) => unknown;
}

const asGiven = (given: unknown) => given;

/** For each kind of setting: its option, and the value that this says. */
export const settingKinds: { readonly [One in SettingKind]: Kind<SettingOfKind<One>> } = {
  text: {
    option: (option, { max, isRequired }) =>
      option(isRequired ? 'text' : 'text|none').argParser((text) =>
        !isRequired && text === 'none' ? text : readName(text, text.length, max),
      ),
    // A project may be called none.
    value: (text, { isRequired }) => (!isRequired && text === 'none' ? undefined : text),
  },
  choice: {
    option: (option, { choices }) => option(choices.join('|')).choices(choices),
    value: asGiven,
  },
  flag: {
    option: (option) => option('on|off').choices(['on', 'off']),
    value: (given) => given === 'on',
  },
  number: {
    option: (option, { min, max }) => option('N').argParser((text) => readNumber(text, min, max)),
    value: asGiven,
  },
  limit: { option: (option) => option('N|none|default').argParser(readLimit), value: limitFrom },
  oldWorker: {
    option: (option) => option('name').choices([...oldWorkerNames, 'none']),
    value: (name, _, until) => (name === 'none' ? undefined : { name, until }),
  },
  origins: {
    option: (option) => option('any|https://…').argParser(readOrigins),
    value: (given) => (given === 'any' ? undefined : given),
  },
};

/** An option for each setting. */
const settingOptions = Object.fromEntries(
  settingNames.map((name) => [name, optionOf(name)]),
) as Readonly<Record<SettingName, Option>>;

/** Options as parsed, by their names in commander. `none` and `default` are texts: it makes an empty text of null. */
export type SettingOptions = Readonly<Record<string, unknown>> & { readonly until?: string };

function optionOf(name: SettingName): Option {
  const row = settingOf(name);
  const [flag, description] = settingTexts[name].option;
  const option = (value: string) => new Option(`--${flag} <${value}>`, description);
  if (name === 'rateLimitPerMinute') return option('limit').argParser(readRateLimit);
  return settingKinds[row.kind].option(option, row as never);
}

/** Adds an option for each setting. */
export function addSettingOptions(command: Command): Command {
  for (const option of Object.values(settingOptions)) command.addOption(option);
  return command.option(
    '--until <YYYY-MM-DD>',
    `last day of --old-worker (UTC), at most ${longestMoveDays} days from now`,
    readUntil,
  );
}

/** The settings that the given options change. */
export function readSettings(command: Command, { until, ...options }: SettingOptions) {
  const { oldWorker = 'none' } = options;
  if (oldWorker !== 'none' && until === undefined) {
    command.error('--old-worker needs --until: the day when the move is over');
  }
  if (until !== undefined && oldWorker === 'none') {
    command.error('--until is for --old-worker only');
  }
  const changes = settingNames.flatMap((name) => {
    const given = options[settingOptions[name].attributeName()];
    if (given === undefined) return [];
    if (name === 'rateLimitPerMinute') return rateLimits(given);
    const row = settingOf(name);
    const value = settingKinds[row.kind].value(given, row as never, until);
    return [[name, value === defaultOf(name) ? undefined : value] as const];
  });
  return Object.fromEntries(changes) as SettingChanges;
}

/** The settings of a new project: without those that have their defaults. */
export function readNewSettings(command: Command, options: SettingOptions): SetSettings {
  const set = Object.entries(readSettings(command, options));
  return Object.fromEntries(set.filter(([, value]) => value !== undefined));
}

function limitFrom(given: unknown) {
  return given === 'default' ? undefined : given === 'none' ? null : given;
}

/** Not null for `none`: commander turns a parsed null into an empty text. */
type LimitOption = number | 'none' | 'default';

/** Limits of single actions. */
type ActionLimits = Partial<Readonly<Record<RouteName, LimitOption>>>;

/** @throws {InvalidArgumentError} */
function readNumber(text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^[1-9]\d*$/.test(text) && value >= min && value <= max) return value;
  throw new InvalidArgumentError(`Use a whole number from ${min} to ${max}.`);
}

function readOrigins(text: string): readonly string[] | 'any' {
  if (text === 'any') return text;
  return [...new Set(text.split(',').map(readOrigin))];
}

/** @throws {InvalidArgumentError} */
function readLimit(text: string): LimitOption {
  if (text === 'none' || text === 'default') return text;
  const value = Number(text);
  if (/^\d+$/.test(text) && value > 0 && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError('Use a whole number above 0, none or default.');
}

/** @throws {InvalidArgumentError} */
function readRateLimit(text: string): LimitOption | ActionLimits {
  if (!text.includes('=')) return readLimit(text);
  const entries = text.split(',').map((part) => {
    const [action = '', ...limit] = part.split('=');
    if (!routeNames.includes(action as RouteName)) {
      throw new InvalidArgumentError(
        `There is no action "${printable(action)}". The actions are ${routeNames.join(', ')}.`,
      );
    }
    return [action, readLimit(limit.join('='))] as const;
  });
  if (new Set(entries.map(([action]) => action)).size < entries.length) {
    throw new InvalidArgumentError('Name each action once.');
  }
  return Object.fromEntries(entries);
}

/** The changes of rate limits. A limit of all actions replaces those of single ones. */
function rateLimits(given: unknown): (readonly [name: string, limit: unknown])[] {
  const ofActions: ActionLimits | undefined = typeof given === 'object' ? Object(given) : undefined;
  const actions = ofActions ? (Object.keys(ofActions) as RouteName[]) : routeNames;
  return [
    ...actions.map(
      (action) => [`${action}PerMinute`, limitFrom(ofActions?.[action] ?? 'default')] as const,
    ),
    ...(ofActions ? [] : [['rateLimitPerMinute', limitFrom(given)] as const]),
  ];
}
