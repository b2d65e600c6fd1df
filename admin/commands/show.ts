import { type Command, InvalidArgumentError } from 'commander';
import type { DeployedSettings } from '../../contract/infrastructure/environment.ts';
import { countText } from '../../contract/text/text.ts';
import {
  limitOf,
  type RateLimits,
  rateLimitsOf,
  type SetSettings,
  settingNames,
  withDefaults,
} from '../../contract/wire/project.ts';
import type { AudienceCounts } from '../../contract/wire/project-result.ts';
import { pushServiceText } from '../../contract/wording/push-service-texts.ts';
import { limitText, settingText, settingTexts } from '../../contract/wording/setting-texts.ts';
import type { ProjectUsage } from '../../lambdas/store/counters.ts';
import type { RegisteredProject } from '../store/registered-projects.ts';
import { newCommand } from '../terminal/command-line.ts';
import { type Column, fieldLines, formatTime, table, truncate } from '../terminal/table.ts';
import { type Paint, printable } from '../terminal/terminal.ts';
import { projectCommand, type RunOnStack } from './command.ts';
import { notificationsText, sentBy } from './notifications.ts';

interface ShowOptions {
  readonly month?: string;
  readonly keys?: true;
}

export function showCommand(runOnStack: RunOnStack): Command {
  return projectCommand(
    'show',
    'Prints a project, its limits and its usage.',
    ...['my-site', 'my-site --month 2026-11 --json', 'my-site --keys'],
  )
    .option(...monthOption)
    .option('--keys', 'also print the identity key, which signs user ids')
    .action((projectId: string, { month, keys }: ShowOptions) =>
      runOnStack(async (context) => {
        const { registry, settings, paint, print } = context;
        const found = await registry.get(projectId);
        const view = projectView(found, settings, {
          ...(await registry.usage(projectId, month)),
          sample: await registry.sample(projectId),
          previousKeySubscribers: found.previousVapidPublicKey
            ? await registry.countPreviousPair(found)
            : undefined,
        });
        const identityKey = keys ? await registry.identityKey(projectId) : undefined;
        const latest = await (await sentBy(context, projectId)).latest(shownSends);
        print(
          { ...view, identityKey, latest },
          `${projectText({ ...view, identityKey }, paint)}\nLatest sends\n${notificationsText(latest, context)}`,
        );
      }),
    );
}

/** Sends that are shown with a project. */
const shownSends = 5;

const monthOption = [
  '--month <YYYY-MM>',
  'count the notifications of this UTC month',
  function readMonth(text: string): string {
    if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
    throw new InvalidArgumentError('Use a year and a month, such as 2026-11.');
  },
] as const;

export function listCommand(runOnStack: RunOnStack): Command {
  return newCommand(
    'list',
    'Lists all projects with their usage and limits.',
    ...['', '--month 2026-10', '--region eu-west-1 --json'],
  )
    .option(...monthOption)
    .action(({ month }: Pick<ShowOptions, 'month'>) =>
      runOnStack(async ({ registry, settings, paint, print, next }) => {
        const views: ProjectView[] = [];
        for await (const project of registry.list()) {
          const usage = await registry.usage(project.projectId, month);
          views.push(projectView(project, settings, usage));
        }
        views.sort((one, other) => (one.projectId < other.projectId ? -1 : 1));
        print(
          views,
          views.length === 0
            ? `No projects. Create one with: ${next('create <projectId>')}\n`
            : table(columns, views, paint),
        );
      }),
    );
}

const columns: readonly Column<ProjectView>[] = [
  ['project', ({ projectId, pausedAt }) => (pausedAt ? `${projectId} (paused)` : projectId)],
  // `show` prints names in full.
  ['name', ({ settings }) => truncate(printable(settings.name), 40)],
  ['subscribers', ({ usage }) => countText(usage.subscribers), 'right'],
  ['of', ({ limits }) => limitText(limits.subscriberCap)],
  ['month', ({ usage }) => usage.month],
  ['sends', ({ usage }) => countText(usage.sends), 'right'],
  ['of', ({ limits }) => limitText(limits.monthlySendCap)],
  ['rate limit', ({ limits }) => limitText(limits.rateLimitPerMinute), 'right'],
  ['user ids', ({ settings }) => settings.userIds],
  ['created', ({ createdAt }) => formatTime(createdAt)],
];

interface ShownUsage extends ProjectUsage {
  /** Subscribers that use the previous application server key, if the project has one. */
  readonly previousKeySubscribers?: number | undefined;
  readonly sample?: AudienceCounts | undefined;
}

/** A project with its usage and limits, as `--json` prints it. */
export type ProjectView = ReturnType<typeof projectView>;

export function projectView(
  project: RegisteredProject,
  settings: DeployedSettings,
  usage: ShownUsage,
) {
  return { ...projectJson(project), usage, limits: effectiveLimits(project.settings, settings) };
}

/** A project as `--json` prints it. */
export function projectJson(project: RegisteredProject) {
  const { projectId, createdAt, previousKeyUntil, previousIdentityKeyUntil } = project;
  return {
    projectId,
    settings: withDefaults(project.settings),
    applicationServerKey: project.vapidPublicKey,
    previousApplicationServerKey: project.previousVapidPublicKey,
    createdAt,
    pausedAt: project.pausedAt,
    previousKeyUntil,
    previousIdentityKeyUntil,
  };
}

/** A project's fields, one per line. */
export function projectText(
  {
    usage,
    limits,
    settings,
    ...project
  }: ProjectView & { readonly identityKey?: string | undefined },
  paint: Paint,
): string {
  const limit = (name: Exclude<keyof EffectiveLimits, 'rateLimits'>) => {
    const origin = settings[name] === undefined ? ' (default)' : '';
    return paint('dim', `limit: ${limitText(limits[name])}${origin}`);
  };
  const until = (time: string | undefined) => time && formatTime(time);
  const { previousKeySubscribers } = usage;
  const fields: readonly (readonly [label: string, value: string | undefined])[] = [
    ...settingLines(settings, limits),
    ['Application server key', project.applicationServerKey],
    ['Previous application server key', project.previousApplicationServerKey],
    [
      'Subscribers that use it',
      previousKeySubscribers === undefined ? undefined : countText(previousKeySubscribers),
    ],
    ['Identity key', project.identityKey && paint('yellow', project.identityKey)],
    ['Created', formatTime(project.createdAt)],
    ['Paused', project.pausedAt && paint('yellow', `since ${formatTime(project.pausedAt)}`)],
    ['Previous secret key until', until(project.previousKeyUntil)],
    ['Previous identity key until', until(project.previousIdentityKeyUntil)],
    ['Subscribers', `${countText(usage.subscribers)}  ${limit('subscriberCap')}`],
    ...pushServiceFields(usage),
    [`Notifications in ${usage.month}`, `${countText(usage.sends)}  ${limit('monthlySendCap')}`],
    ['Requests per minute', limit('rateLimitPerMinute')],
    ...Object.entries(limits.rateLimits ?? {}).map(
      ([action, ofAction]) =>
        [`  ${action}`, paint('dim', `limit: ${limitText(ofAction)}`)] as const,
    ),
  ];
  return `${paint('bold', project.projectId)}\n${fieldLines(fields, paint)}`;
}

/** What each push service accepts messages for, and who is still there: some accept them for browsers that are gone. */
function pushServiceFields({ subscribers, sample }: ShownUsage) {
  if (sample === undefined) return [];
  const isPart = sample.subscribers < subscribers;
  const of = isPart ? ` of a sample of ${countText(sample.subscribers)}` : '';
  return Object.entries(sample.pushServices).map(([name, counts]) => {
    const seen = `seen within 30 days: ${countText(counts.seenWithin30Days)}`;
    return [
      `  ${pushServiceText(name)}`,
      `${countText(counts.subscribers)}${of}, ${seen}`,
    ] as const;
  });
}

/** The settings but for these limits, which are printed with the usage. */
function settingLines(
  settings: SetSettings,
  limits: EffectiveLimits,
): readonly (readonly [string, string])[] {
  return settingNames.flatMap((name) => {
    const value = settings[name];
    if (value === undefined || name in limits) return [];
    return [[settingTexts[name].label, printable(settingText(name, value))]];
  });
}

/** Until when a key that was replaced is accepted. Functions remember a project for 30 s: `projectCacheMs`. */
export function previousKeyEnd(until: string | undefined): string {
  return until === undefined ? 'for up to 30 seconds' : `until ${formatTime(until)}`;
}

/** The limits that apply to a project: its own, or else the deployment's. Null: no limit. */
export interface EffectiveLimits {
  readonly subscriberCap: number | null;
  readonly monthlySendCap: number | null;
  readonly rateLimitPerMinute: number | null;
  /** The limits of actions that have their own. */
  readonly rateLimits?: RateLimits;
}

export function effectiveLimits(own: SetSettings, deployed: DeployedSettings): EffectiveLimits {
  return {
    subscriberCap: limitOf(own.subscriberCap, deployed.SUBSCRIBER_CAP),
    monthlySendCap: limitOf(own.monthlySendCap, deployed.MONTHLY_SEND_CAP),
    ...rateLimitsOf(own, deployed.RATE_LIMIT_PER_MINUTE),
  };
}
