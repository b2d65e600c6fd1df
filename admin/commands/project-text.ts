import type { DeployedSettings } from '../../contract/environment.ts';
import type { RegisteredProject } from '../registered-project.ts';
import { printable } from '../terminal/printable.ts';
import type { Paint } from '../terminal/terminal.ts';
import type { ShownUsage } from './command.ts';
import { type EffectiveLimits, effectiveLimits } from './effective-limits.ts';
import { describeLimit, formatCount } from './limits.ts';

/** A project's fields, one per line. The counts are omitted without `usage`. */
export function projectText(
  project: RegisteredProject,
  settings: DeployedSettings,
  paint: Paint,
  usage?: ShownUsage,
): string {
  const { projectId, name, vapidPublicKey, previousVapidPublicKey, plan } = project;
  const { userIds, createdAt, previousKeyUntil, previousIdentityKeyUntil } = project;
  const limits = effectiveLimits(plan, settings);
  const limitText = (name: keyof EffectiveLimits) => {
    const origin = plan[name] === undefined ? ' (default)' : '';
    return paint('dim', `limit: ${describeLimit(limits[name])}${origin}`);
  };
  const fields: readonly (readonly [string, string])[] = [
    ['Name', printable(name)],
    ['Application server key', vapidPublicKey],
    ...(previousVapidPublicKey ? [['Previous server key', previousVapidPublicKey] as const] : []),
    ...(usage?.previousKeySubscribers === undefined
      ? []
      : [['Subscribers that use it', formatCount(usage.previousKeySubscribers)] as const]),
    ['Created', formatTime(createdAt)],
    ...(previousKeyUntil
      ? [['Previous key valid until', formatTime(previousKeyUntil)] as const]
      : []),
    ...(previousIdentityKeyUntil
      ? [['Previous id key until', formatTime(previousIdentityKeyUntil)] as const]
      : []),
    ['User ids', userIds],
    ['Subscribers', countAndLimit(usage?.subscribers, limitText('subscriberCap'))],
    [
      `Notifications${usage ? ` in ${usage.month}` : ' per month'}`,
      countAndLimit(usage?.sends, limitText('monthlySendCap')),
    ],
    ['Requests per minute', limitText('rateLimitPerMinute')],
  ];
  const lines = fields.map(([label, value]) => `  ${paint('dim', label.padEnd(24))}  ${value}\n`);
  return `${paint('bold', projectId)}\n${lines.join('')}`;
}

function countAndLimit(count: number | undefined, limit: string): string {
  return count === undefined ? limit : `${formatCount(count)}  ${limit}`;
}

/** Until when a key that was replaced is accepted. Functions remember a project for 30 s: `projectCacheMs`. */
export function previousKeyEnd(until: string | undefined): string {
  return until === undefined ? 'for up to 30 seconds' : `until ${formatTime(until)}`;
}

/** `2026-11-20 19:04 UTC`. */
export function formatTime(iso: string): string {
  return `${iso.slice(0, 'YYYY-MM-DD'.length)} ${iso.slice('YYYY-MM-DDT'.length, 'YYYY-MM-DDTHH:MM'.length)} UTC`;
}
