import { countText } from '../../contract/count-text.ts';
import type { DeployedSettings } from '../../contract/environment.ts';
import type { ProjectUsage } from '../../lambdas/store/usage.ts';
import type { RegisteredProject } from '../registered-project.ts';
import { fieldLines } from '../terminal/fields.ts';
import { printable } from '../terminal/printable.ts';
import type { Paint } from '../terminal/terminal.ts';
import { type EffectiveLimits, effectiveLimits } from './effective-limits.ts';
import { describeLimit } from './project-options.ts';

interface ShownUsage extends ProjectUsage {
  /** Subscribers that use the previous application server key, if the project has one. */
  readonly previousKeySubscribers?: number | undefined;
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
  const { projectId, name, plan, userIds, createdAt } = project;
  const { previousKeyUntil, previousIdentityKeyUntil } = project;
  return {
    projectId,
    name,
    applicationServerKey: project.vapidPublicKey,
    previousApplicationServerKey: project.previousVapidPublicKey,
    plan,
    userIds,
    createdAt,
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
    ['Previous secret key until', until(project.previousKeyUntil)],
    ['Previous identity key until', until(project.previousIdentityKeyUntil)],
    ['User ids', project.userIds],
    ['Subscribers', `${countText(usage.subscribers)}  ${limit('subscriberCap')}`],
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

/** Until when a key that was replaced is accepted. Functions remember a project for 30 s: `projectCacheMs`. */
export function previousKeyEnd(until: string | undefined): string {
  return until === undefined ? 'for up to 30 seconds' : `until ${formatTime(until)}`;
}

/** `2026-11-20 19:04 UTC`. */
export function formatTime(iso: string): string {
  return `${iso.slice(0, 'YYYY-MM-DDTHH:MM'.length).replace('T', ' ')} UTC`;
}
