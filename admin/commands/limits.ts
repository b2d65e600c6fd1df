import { type Command, InvalidArgumentError } from 'commander';
import type { Plan } from '../../contract/project.ts';
import type { PlanChange } from '../project-registry.ts';

/** The options that set a project's limits, as parsed. */
export interface LimitOptions {
  readonly subscriberCap?: LimitOption;
  readonly sendCap?: LimitOption;
  readonly rateLimit?: LimitOption;
}

/** Not null for `none`: commander turns a parsed null into an empty text. */
type LimitOption = number | 'none' | 'default';

export function addLimitOptions(command: Command): Command {
  return command
    .option('--subscriber-cap <N|none|default>', 'most subscribers', readLimit)
    .option('--send-cap <N|none|default>', 'most notifications per UTC month', readLimit)
    .option(
      '--rate-limit <N|none|default>',
      'requests per minute, by address and route',
      readLimit,
    );
}

function readLimit(text: string): LimitOption {
  if (text === 'none' || text === 'default') return text;
  const value = Number(text);
  if (/^\d+$/.test(text) && value > 0 && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError('Use a whole number above 0, none or default.');
}

/** The changes that the given options ask for. */
export function readPlanChange({ subscriberCap, sendCap, rateLimit }: LimitOptions): PlanChange {
  const limits = { subscriberCap, monthlySendCap: sendCap, rateLimitPerMinute: rateLimit };
  const given = Object.entries(limits).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, value === 'none' ? null : value]));
}

/** The plan of a new project. A limit that is `default` is absent from it. */
export function readPlan(options: LimitOptions): Plan {
  const limits = Object.entries(readPlanChange(options)).filter(([, value]) => value !== 'default');
  return Object.fromEntries(limits);
}

/** A limit with commas: `1,000`, or `none`. */
export function describeLimit(limit: number | null): string {
  return limit === null ? 'none' : formatCount(limit);
}

/** `1 user`, `2 users`. */
export function countOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** 12345 as `12,345`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}
