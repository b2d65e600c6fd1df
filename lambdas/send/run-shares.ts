import type { SigningProject } from '../../contract/project.ts';
import type { Share, ShareResult } from '../../contract/share.ts';
import {
  deliverShare,
  type EndedShare,
  type PreparedShare,
  type ShareDependencies,
  type ShareOutcome,
} from '../deliver/deliver-share.ts';
import type { Invocation } from '../deliver/share-progress.ts';
import { storedResult } from '../results/results.ts';
import type { Tally } from '../store/tallies.ts';

/** How an invocation of deliver ended. */
export type InvocationOutcome =
  | { readonly kind: 'result'; readonly result: ShareResult }
  /** An asynchronous invocation is queued. */
  | { readonly kind: 'accepted' }
  /** Lambda runs as many functions as it may. */
  | { readonly kind: 'throttled' }
  /** The function ended without a response. */
  | { readonly kind: 'died' }
  /** The response was lost, or another invocation has the share: it may still be in progress. */
  | { readonly kind: 'unknown' };

export interface ShareInvoker {
  invoke(share: Share, type: 'sync' | 'async', signal: AbortSignal): Promise<InvocationOutcome>;
}

export interface RunDependencies extends ShareDependencies {
  readonly invoker: ShareInvoker;
  readonly random: () => number;
}

/** Ms for which a throttled invocation is repeated, and the longest wait before the first repetition. */
const repeatThrottledMs = 3000;
const firstWaitMs = 100;
/** Ms between two looks at a share that another function may still be delivering. */
const pollMs = 500;
/** Ms at the end for reading the results that other functions stored. */
const lastReadsMs = 1000;

/** The results of shares, and the first error that ended one of them. */
export interface SharesOutcome {
  readonly results: readonly ShareResult[];
  /** Which users the first share has reached; users have one share. */
  readonly reached?: Uint8Array | undefined;
  readonly error?: unknown;
  /** Whether the counts of a share could not be read, so that it may have been delivered. */
  readonly isUnknown: boolean;
}

export interface StartedShares {
  /** Whether any share is in progress or delivered, as far as known. */
  readonly isStarted: boolean;
  /** The results of the shares that were delivered here. */
  readonly results: readonly ShareResult[];
}

interface RecoveredShare extends Omit<EndedShare, 'kind'> {
  readonly isUnknown?: boolean;
}

/** The invocation as the shares have it that it delivers itself: afterwards it reads the others' results. */
export function delivering({ id, endsAt }: Invocation): Invocation {
  return { id, endsAt: endsAt - lastReadsMs };
}

/**
 * Delivers all shares: the first one here, the others in functions that run at the same time. What
 * these did not take is delivered here, as far as time allows.
 * @param first was prepared for {@link delivering}.
 */
export async function runShares(
  deps: RunDependencies,
  project: SigningProject,
  first: PreparedShare,
  others: readonly Share[],
  invocation: Invocation,
): Promise<SharesOutcome> {
  const projectReadAt = deps.clock().getTime();
  const here = delivering(invocation);
  const invoked = others.map((share) => invokeUntilAccepted(deps, share, 'sync', here));
  const outcomes: RecoveredShare[] = [await first.deliver()];
  for (const [index, outcome] of (await Promise.all(invoked)).entries()) {
    if (outcome.kind === 'result') outcomes.push(outcome);
    else {
      const share = others[index]!;
      // The share's claim prevents that a subscriber is pushed to twice.
      const own = await deliverShare(deps, project, share, here, projectReadAt);
      outcomes.push(await recover(deps, own, share, here, outcome.kind));
    }
  }
  return {
    results: outcomes.map(({ result }) => result),
    reached: outcomes[0]?.reached,
    error: outcomes.find(({ error }) => error !== undefined)?.error,
    isUnknown: outcomes.some(({ isUnknown }) => isUnknown),
  };
}

/**
 * Hands all shares to functions that run when this one has returned. What Lambda throttles is delivered
 * here until the deadline.
 */
export async function startShares(
  deps: RunDependencies,
  project: SigningProject,
  shares: readonly Share[],
  deadline: NonNullable<Share['deadline']>,
  invocation: Invocation,
): Promise<StartedShares> {
  const projectReadAt = deps.clock().getTime();
  const invoked = shares.map((share) => invokeUntilAccepted(deps, share, 'async', invocation));
  const results: ShareResult[] = [];
  let isStarted = false;
  for (const [index, { kind }] of (await Promise.all(invoked)).entries()) {
    if (kind !== 'throttled') isStarted = true;
    if (kind === 'accepted') continue;
    const share = { ...shares[index]!, deadline };
    const outcome = await deliverShare(deps, project, share, invocation, projectReadAt);
    if (outcome.kind === 'ended') results.push(outcome.result);
    if (outcome.kind !== 'ended' || hasBegun(outcome)) isStarted = true;
  }
  return { isStarted, results };
}

/**
 * The result of a share whose invocation gave none, and that was then delivered here; or what that
 * invocation has stored.
 */
async function recover(
  deps: RunDependencies,
  outcome: ShareOutcome,
  share: Share,
  here: Invocation,
  kind: InvocationOutcome['kind'],
): Promise<RecoveredShare> {
  const { tallies, clock, sleep, abortAfter, observe } = deps;
  if (outcome.kind === 'ended' && hasBegun(outcome)) return outcome;
  const error = outcome.kind === 'ended' ? outcome.error : undefined;
  // Another invocation may have the share.
  const msLeft = () => here.endsAt + lastReadsMs - clock().getTime();
  let tally: Tally | undefined;
  let isRead = false;
  for (;;) {
    const signal = abortAfter(Math.max(0, msLeft()));
    try {
      [tally] = await tallies.find(share.notificationId, [share.firstTally], signal);
      isRead = true;
    } catch (failure) {
      // Keeps the counts that were read before.
      if (msLeft() < 2 * pollMs) observe.recordFailed(share, failure);
    }
    const isOver = isRead && (tally?.ended !== undefined || kind !== 'unknown');
    if (isOver || msLeft() < 2 * pollMs) {
      return { result: storedResult(tally), error, isUnknown: !isRead };
    }
    await sleep(pollMs);
  }
}

function hasBegun({ result }: EndedShare): boolean {
  return result.isComplete || result.attempted > 0;
}

async function invokeUntilAccepted(
  { invoker, clock, sleep, abortAfter, random, observe }: RunDependencies,
  share: Share,
  type: 'sync' | 'async',
  { endsAt }: Invocation,
): Promise<InvocationOutcome> {
  const startedAt = clock().getTime();
  const signal = abortAfter(Math.max(0, endsAt - startedAt));
  let mayBeQueued = false;
  for (let longestMs = firstWaitMs; ; longestMs *= 2) {
    const outcome = await invoker.invoke(share, type, signal);
    if (outcome.kind === 'unknown') mayBeQueued = true;
    // An asynchronous share that is invoked twice is still delivered once.
    const isRepeated =
      outcome.kind === 'throttled' || (type === 'async' && outcome.kind === 'unknown');
    if (!isRepeated) return outcome;
    const waitMs = longestMs * (0.5 + random() / 2);
    const now = clock().getTime();
    if (now + waitMs > Math.min(startedAt + repeatThrottledMs, endsAt)) {
      observe.throttled(share);
      return mayBeQueued ? { kind: 'unknown' } : outcome;
    }
    await sleep(waitMs);
  }
}
