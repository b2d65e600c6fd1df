import { type Command, InvalidArgumentError, Option } from 'commander';
import { countText } from '../../contract/text/text.ts';
import { limits } from '../../contract/wire/limits.ts';
import { type OldWorkerName, oldWorkerNames } from '../../contract/wire/message.ts';
import { type Plan, type UserIdMode, userIdModes } from '../../contract/wire/project.ts';
import { type RouteName, routeNames } from '../../contract/wire/routes.ts';
import type { PlanChange, ProjectChanges } from '../project-registry.ts';
import { printable } from '../terminal/terminal.ts';
import { projectCommand, type RunOnStack, readName } from './command.ts';
import { type ProjectView, projectText, projectView } from './show.ts';

/** Long enough for a push to each browser, and for its look for another service worker a day later. */
const longestMoveDays = 90;

export function setCommand(runOnStack: RunOnStack): Command {
  const command = addProjectOptions(
    projectCommand(
      'set',
      'Changes the name of a project, its limits, whether user ids need a signature, and what messages carry during a move.',
      ...['my-site --name "My new site"', 'my-site --subscriber-cap 5000 --send-cap default'],
      ...['my-site --user-ids signed', 'my-site --old-worker none', 'my-site --shown-sample 10'],
    ),
  )
    .addOption(
      new Option(
        '--old-worker <name>',
        'imported browsers may still have the service worker of this service: messages to them carry what it needs',
      ).choices([...oldWorkerNames, 'none']),
    )
    .option(
      '--until <YYYY-MM-DD>',
      `last day of --old-worker (UTC), at most ${longestMoveDays} days from now`,
      readUntil,
    )
    .option(
      '--shown-sample <N>',
      'of a broadcast to more than 100,000 subscribers, one in N browsers reports that it was shown; 1: each',
      readShownSample,
    );
  return command.action(async (projectId: string, options: SetOptions) => {
    const { name, userIds, oldWorker, until, shownSample } = options;
    const plan = { ...readPlanChange(options), ...(shownSample && { shownSample }) };
    const changesPlan = Object.keys(plan).length > 0;
    if ((oldWorker ?? 'none') !== 'none' && until === undefined) {
      command.error('--old-worker needs --until: the day when the move is over');
    }
    if (until !== undefined && (oldWorker ?? 'none') === 'none') {
      command.error('--until is for --old-worker only');
    }
    const changes: ProjectChanges = {
      ...(name !== undefined && { name }),
      ...(userIds && { userIds }),
      ...(oldWorker && {
        oldWorker: oldWorker === 'none' ? undefined : { name: oldWorker, until: until! },
      }),
    };
    if (!changesPlan && Object.keys(changes).length === 0) {
      const shown = command.options.filter(({ hidden, long }) => !hidden && long !== '--until');
      const names = shown.map(({ long }) => long).join(', ');
      command.error(`nothing to change: give at least one of ${names}`);
    }
    await runOnStack(async ({ registry, settings, paint, print, next }) => {
      if (Object.keys(changes).length > 0) await registry.change(projectId, changes);
      if (changesPlan) await registry.setPlan(projectId, plan);
      const usage = await registry.usage(projectId);
      const view = projectView(await registry.get(projectId), settings, usage);
      const warning = plan.subscriberCap === undefined ? undefined : capWarning(view);
      const notes = [
        ...(warning === undefined ? [] : [`\n${paint('yellow', warning)}\n`]),
        ...(userIds === 'signed' ? [signedNote(next(`users delete ${projectId} <userId>`))] : []),
      ];
      print({ ...view, warning }, projectText(view, paint) + notes.join(''));
    });
  });
}

interface SetOptions extends ProjectOptions {
  readonly oldWorker?: OldWorkerName | 'none';
  readonly until?: string;
  readonly shownSample?: number | 'default';
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

/** @throws {InvalidArgumentError} */
function readShownSample(text: string): number | 'default' {
  if (!/^(?:[1-9]\d?|100)$/.test(text)) {
    throw new InvalidArgumentError('Use a whole number from 1 to 100.');
  }
  return text === '1' ? 'default' : Number(text);
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

/** What `create` and `set` can set, as parsed. */
export interface ProjectOptions {
  readonly name?: string;
  readonly userIds?: UserIdMode;
  readonly subscriberCap?: LimitOption;
  readonly sendCap?: LimitOption;
  readonly rateLimit?: LimitOption | ActionLimits;
  /** `sendCap` and `rateLimit`, as the API writes them. */
  readonly monthlySendCap?: LimitOption;
  readonly rateLimitPerMinute?: LimitOption;
}

/** Not null for `none`: commander turns a parsed null into an empty text. */
type LimitOption = number | 'none' | 'default';

/** Limits of single actions. */
type ActionLimits = Partial<Readonly<Record<RouteName, LimitOption>>>;

export function addProjectOptions(command: Command): Command {
  return command
    .option('--name <text>', 'name that people see', (name: string) =>
      readName(name, name.length, limits.projectNameLength),
    )
    .option('--subscriber-cap <N|none|default>', 'most subscribers', readLimit)
    .option('--send-cap <N|none|default>', 'most notifications per UTC month', readLimit)
    .addOption(apiName('--monthly-send-cap', 'sendCap'))
    .addOption(apiName('--rate-limit-per-minute', 'rateLimit'))
    .option(
      '--rate-limit <limit>',
      'requests per minute of an address: N, none or default for all actions, or for some: track=600,send=none',
      readRateLimit,
    )
    .addOption(
      new Option(
        '--user-ids <open|signed>',
        'accept any user id, or only those with a signature',
      ).choices(userIdModes),
    );
}

/** The name that a limit has in the API. */
function apiName(name: string, option: keyof ProjectOptions): Option {
  return new Option(`${name} <N|none|default>`).argParser(readLimit).conflicts(option).hideHelp();
}

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

/** A limit of all actions replaces those of single ones. */
function readRateLimits(
  rateLimit: ProjectOptions['rateLimit'],
): Readonly<Record<string, LimitOption | undefined>> {
  if (rateLimit === undefined) return {};
  const ofActions = Object.fromEntries(
    routeNames.map((action) => [
      `${action}PerMinute`,
      typeof rateLimit === 'object' ? rateLimit[action] : 'default',
    ]),
  );
  return typeof rateLimit === 'object'
    ? ofActions
    : { ...ofActions, rateLimitPerMinute: rateLimit };
}

/** The changes that the given options ask for. */
export function readPlanChange(options: ProjectOptions): PlanChange {
  const { subscriberCap, sendCap, monthlySendCap = sendCap } = options;
  const { rateLimit, rateLimitPerMinute = rateLimit } = options;
  const limits = { subscriberCap, monthlySendCap, ...readRateLimits(rateLimitPerMinute) };
  const given = Object.entries(limits).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, value === 'none' ? null : value]));
}

/** The plan of a new project, without the limits that are the deployment's. */
export function readPlan(options: ProjectOptions): Plan {
  const limits = Object.entries(readPlanChange(options)).filter(([, value]) => value !== 'default');
  return Object.fromEntries(limits);
}
