import type { Plan } from '../../contract/project.ts';
import type { PlanChange } from '../project-registry.ts';
import { type Flags, type ParsedArguments, UsageError } from '../terminal/arguments.ts';

/** The flags that state a project's own limits. */
export const limitFlags = {
  'subscriber-cap': { value: '<N|none|default>', help: 'most subscribers' },
  'send-cap': { value: '<N|none|default>', help: 'most notifications in a UTC month' },
  'rate-limit': { value: '<N|none|default>', help: 'requests a minute, per address and action' },
} as const satisfies Flags;

type LimitFlags = ParsedArguments<typeof limitFlags>['flags'];

const limitOfFlag = {
  'subscriber-cap': 'subscriberCap',
  'send-cap': 'monthlySendCap',
  'rate-limit': 'rateLimitPerMinute',
} as const satisfies Record<keyof typeof limitFlags, keyof Plan>;

const flagNames = Object.keys(limitFlags) as (keyof typeof limitFlags)[];

/** @throws {UsageError} for a limit that is no number above 0 and no word it may be. */
export function readLimits(flags: LimitFlags): PlanChange {
  const given = flagNames.filter((name) => flags[name] !== undefined);
  return Object.fromEntries(
    given.map((name) => [limitOfFlag[name], readLimit(name, flags[name] ?? '')]),
  );
}

/** Limits of a new project, for which `default` is what holds without a word. */
export function readPlan(flags: LimitFlags): Plan {
  const limits = Object.entries(readLimits(flags)).filter(([, value]) => value !== 'default');
  return Object.fromEntries(limits);
}

function readLimit(flag: string, text: string): number | null | 'default' {
  if (text === 'none') return null;
  if (text === 'default') return 'default';
  const value = Number(text);
  if (/^\d+$/.test(text) && value > 0 && Number.isSafeInteger(value)) return value;
  throw new UsageError(
    `--${flag} must be a whole number above 0, none or default; "${text}" is not.`,
  );
}

/** A limit as the flags take it, but for the commas: `1,000`, `none`, `default`. */
export function describeLimit(limit: number | null | undefined): string {
  if (limit === undefined) return 'default';
  return limit === null ? 'none' : formatCount(limit);
}

/** 12345 as `12,345`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}
