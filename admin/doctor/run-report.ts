import packageJson from '../../package.json' with { type: 'json' };
import type { NamedFinding } from './checks.ts';

/** A million sends to one user id each, by AWS's list prices for us-east-1 (2025): docs/performance.md adds them up. */
export const dollarsPerMillionSends = 16.15;

interface Run {
  readonly startedAt: Date;
  /** Where the stack is. Undefined for a local one. */
  readonly region: string | undefined;
  /** Address of the push service's WebSocket. Undefined if nothing was sent. */
  readonly pushService: string | undefined;
  readonly findings: readonly NamedFinding[];
}

/**
 * What a run of `doctor` has measured, to be published. It has neither messages nor names: those of projects, members and
 * resources are the operator's.
 */
export function runReport({ startedAt, region, pushService, findings }: Run, now: Date) {
  return {
    carillon: packageJson.version,
    node: process.versions.node,
    startedAt: startedAt.toISOString(),
    seconds: (now.getTime() - startedAt.getTime()) / 1000,
    region: region ?? 'local',
    pushService: pushService === undefined ? null : new URL(pushService).host,
    checks: findings.map(({ check, level, milliseconds }) => ({ check, level, milliseconds })),
    ...(pushService !== undefined && {
      calculated: {
        dollarsPerSend: dollarsPerMillionSends / 1e6,
        from: 'list prices of us-east-1 in 2025, docs/performance.md',
      },
    }),
  };
}
