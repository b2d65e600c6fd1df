import { type Command, InvalidArgumentError } from 'commander';
import type { DeployedSettings } from '../../contract/infrastructure/environment.ts';
import { countText } from '../../contract/text/text.ts';
import { limitOf, type Plan, type RateLimits, rateLimitsOf } from '../../contract/wire/project.ts';
import type { AudienceCounts } from '../../contract/wire/project-result.ts';
import { pushServiceText } from '../../contract/wording/push-service-texts.ts';
import type { ProjectUsage } from '../../lambdas/store/counters.ts';
import type { RegisteredProject } from '../store/registered-projects.ts';
import { newCommand } from '../terminal/command-line.ts';
import { type Column, fieldLines, table, truncate } from '../terminal/table.ts';
import { type Paint, printable } from '../terminal/terminal.ts';
import { projectCommand, type RunOnStack } from './command.ts';

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
    .option('--month <YYYY-MM>', 'count the notifications of this UTC month', readMonth)
    .option('--keys', 'also print the identity key, which signs user ids')
    .action((projectId: string, { month, keys }: ShowOptions) =>
      runOnStack(async ({ registry, settings, paint, print }) => {
        const found = await registry.get(projectId);
        const view = projectView(found, settings, {
          ...(await registry.usage(projectId, month)),
          sample: await registry.sample(projectId),
          previousKeySubscribers: found.previousVapidPublicKey
            ? await registry.countPreviousPair(found)
            : undefined,
        });
        const identityKey = keys ? await registry.identityKey(projectId) : undefined;
        print({ ...view, identityKey }, projectText({ ...view, identityKey }, paint));
      }),
    );
}

function readMonth(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError('Use a year and a month, such as 2026-11.');
}

export function listCommand(runOnStack: RunOnStack): Command {
  return newCommand(
    'list',
    'Lists all projects with their usage and limits.',
    ...['', '--region eu-west-1 --json'],
  ).action(() =>
    runOnStack(async ({ registry, settings, paint, print, next }) => {
      const views: ProjectView[] = [];
      for await (const project of registry.list()) {
        views.push(projectView(project, settings, await registry.usage(project.projectId)));
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
  ['project', ({ projectId }) => projectId],
  // `show` prints names in full.
  ['name', ({ name }) => truncate(printable(name), 40)],
  ['subscribers', ({ usage }) => countText(usage.subscribers), 'right'],
  ['of', ({ limits }) => describeLimit(limits.subscriberCap)],
  ['sends this month', ({ usage }) => countText(usage.sends), 'right'],
  ['of', ({ limits }) => describeLimit(limits.monthlySendCap)],
  ['rate limit', ({ limits }) => describeLimit(limits.rateLimitPerMinute), 'right'],
  ['user ids', ({ userIds }) => userIds],
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
  return { ...projectJson(project), usage, limits: effectiveLimits(project.plan, settings) };
}

/** A project as `--json` prints it. */
export function projectJson(project: RegisteredProject) {
  const { projectId, name, plan, userIds, oldWorker, createdAt } = project;
  const { previousKeyUntil, previousIdentityKeyUntil } = project;
  return {
    projectId,
    name,
    applicationServerKey: project.vapidPublicKey,
    previousApplicationServerKey: project.previousVapidPublicKey,
    plan,
    userIds,
    oldWorker,
    createdAt,
    pausedAt: project.pausedAt,
    previousKeyUntil,
    previousIdentityKeyUntil,
  };
}

/** A project's fields, one per line. */
export function projectText(
  { usage, limits, plan, ...project }: ProjectView & { readonly identityKey?: string | undefined },
  paint: Paint,
): string {
  const limit = (name: Exclude<keyof EffectiveLimits, 'rateLimits'>) => {
    const origin = plan[name] === undefined ? ' (default)' : '';
    return paint('dim', `limit: ${describeLimit(limits[name])}${origin}`);
  };
  const until = (time: string | undefined) => time && formatTime(time);
  const { previousKeySubscribers } = usage;
  const fields: readonly (readonly [label: string, value: string | undefined])[] = [
    ['Name', printable(project.name)],
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
    ['User ids', project.userIds],
    [
      'Old service worker',
      project.oldWorker && `${project.oldWorker.name} until ${formatTime(project.oldWorker.until)}`,
    ],
    ['Subscribers', `${countText(usage.subscribers)}  ${limit('subscriberCap')}`],
    ...pushServiceFields(usage),
    [`Notifications in ${usage.month}`, `${countText(usage.sends)}  ${limit('monthlySendCap')}`],
    ['Requests per minute', limit('rateLimitPerMinute')],
    ...Object.entries(limits.rateLimits ?? {}).map(
      ([action, ofAction]) =>
        [`  ${action}`, paint('dim', `limit: ${describeLimit(ofAction)}`)] as const,
    ),
    [
      'Shown is reported by',
      plan.shownSample === undefined ? undefined : `one browser in ${plan.shownSample}`,
    ],
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

/** Until when a key that was replaced is accepted. Functions remember a project for 30 s: `projectCacheMs`. */
export function previousKeyEnd(until: string | undefined): string {
  return until === undefined ? 'for up to 30 seconds' : `until ${formatTime(until)}`;
}

/** `2026-11-20 19:04 UTC`. */
export function formatTime(iso: string): string {
  return `${iso.slice(0, 'YYYY-MM-DDTHH:MM'.length).replace('T', ' ')} UTC`;
}

/** The limits that apply to a project: its plan's, or else the deployment's. Null: no limit. */
export interface EffectiveLimits {
  readonly subscriberCap: number | null;
  readonly monthlySendCap: number | null;
  readonly rateLimitPerMinute: number | null;
  /** The limits of actions that have their own. */
  readonly rateLimits?: RateLimits;
}

export function effectiveLimits(plan: Plan, settings: DeployedSettings): EffectiveLimits {
  return {
    subscriberCap: limitOf(plan.subscriberCap, settings.SUBSCRIBER_CAP),
    monthlySendCap: limitOf(plan.monthlySendCap, settings.MONTHLY_SEND_CAP),
    ...rateLimitsOf(plan, settings.RATE_LIMIT_PER_MINUTE),
  };
}

/** A limit with commas: `1,000`, or `none`. */
export function describeLimit(limit: number | null): string {
  return limit === null ? 'none' : countText(limit);
}
