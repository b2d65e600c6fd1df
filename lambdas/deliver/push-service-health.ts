import {
  type FailureReason,
  type Failures,
  failureReasonNames,
  failureReasons,
} from '../../contract/wire/counts.ts';
import { otherHosts } from '../../contract/wire/push-services.ts';
import type { ServiceOutcome } from '../push/pushing/push-service.ts';

/** Pushes on which alarms fire. */
export interface SuspectPushes {
  /** Failed at push services of whose latest pushes at least a fifth failed. */
  readonly failing: number;
  /** Refused by a push service that accepted none of many. */
  readonly refused: number;
  /** Refused for their VAPID token or its subject, by push services that accepted none. */
  readonly vapidRefused: number;
  /** To subscriptions that are said to be gone, and were kept. */
  readonly unconfirmed: number;
}

/** Ms for which a function remembers how pushes to a push service ended. */
const windowMs = 5 * 60_000;
/** The part of its pushes that fail from which on a push service counts as failing. */
const failingPart = 0.2;
/** From this many refused pushes on, and this part of all, single subscriptions are not the reason. */
const refusedPushes = 100;
const refusedPart = 0.05;

interface Tally {
  readonly since: number;
  delivered: number;
  failed: number;
}

/**
 * Judges pushes by push service. So the subscriptions that anybody can make neither hide a fault at another push
 * service nor look like one. If a push service has accepted any push, the project's keys are right, and it refuses
 * single subscriptions. Hosts that anybody can have invented, or that are not known by name, are not judged.
 */
export function pushServiceHealth(clock: () => Date) {
  const tallies = new Map<string, Tally>();
  return (outcomes: readonly ServiceOutcome[]): SuspectPushes => {
    const now = clock().getTime();
    const all = outcomes.reduce((sum, { delivered, failures }) => {
      return sum + delivered + sumOf(failures, failureReasonNames);
    }, 0);
    const suspect = { failing: 0, refused: 0, vapidRefused: 0, unconfirmed: 0 };
    for (const { pushService, delivered, failures, unknownHosts } of outcomes) {
      if (pushService === otherHosts) continue;
      suspect.unconfirmed += sumOf(failures, reasonsOf('gone'));
      const failed = sumOf(failures, reasonsOf('service')) - unknownHosts;
      const tally = tallyOf(pushService, now);
      tally.delivered += delivered;
      tally.failed += failed;
      if (tally.failed >= failingPart * (tally.delivered + tally.failed)) suspect.failing += failed;
      if (delivered > 0 || (failures.dropped ?? 0) > 0) continue;
      suspect.vapidRefused += failures.vapid_refused ?? 0;
      const refused = sumOf(failures, reasonsOf('refusal'));
      if (refused >= refusedPushes && refused >= refusedPart * all) suspect.refused += refused;
    }
    return suspect;
  };

  function tallyOf(pushService: string, now: number): Tally {
    const tally = tallies.get(pushService);
    if (tally !== undefined && now - tally.since < windowMs) return tally;
    const created = { since: now, delivered: 0, failed: 0 };
    tallies.set(pushService, created);
    return created;
  }
}

function reasonsOf(cause: (typeof failureReasons)[FailureReason]['cause']) {
  return failureReasonNames.filter((reason) => failureReasons[reason].cause === cause);
}

function sumOf(failures: Failures, reasons: readonly FailureReason[]): number {
  return reasons.reduce((sum, reason) => sum + (failures[reason] ?? 0), 0);
}
