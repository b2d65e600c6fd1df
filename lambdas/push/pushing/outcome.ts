import type { FailureReason } from '../../../contract/wire/counts.ts';
import type { PushResponse } from '../transport/response.ts';

/** Consequence of a push service's response for the push and its subscription. */
export type Outcome =
  | { readonly kind: 'delivered' }
  /** The subscription no longer exists: delete it. */
  | { readonly kind: 'gone' }
  /** A retry may succeed; not before `retryAfterMs`, if the push service says so. */
  | {
      readonly kind: 'transient';
      readonly reason: FailureReason;
      readonly retryAfterMs?: number;
      /** Whether it is `no_response` because the time was over, and whether the whole push had been sent. */
      readonly isTimeout?: boolean;
      readonly isSent?: boolean;
    }
  | { readonly kind: 'failed'; readonly reason: FailureReason };

export type Transient = Extract<Outcome, { readonly kind: 'transient' }>;
export type FinalOutcome = Exclude<Outcome, Transient>;

/**
 * Interprets a push service's response. RFC 8030 §5 and §7.3 define 201 and 404; the others are what
 * the push services document, or have been observed to send.
 */
export function outcomeOf({ status, headers, body }: PushResponse, now: Date): Outcome {
  if (status >= 200 && status < 300) {
    // WNS accepts messages that it drops, and says so only in this header.
    const dropped = ['dropped', 'channelthrottled'].includes(headers['x-wns-status'] ?? '');
    return dropped ? { kind: 'failed', reason: 'dropped' } : { kind: 'delivered' };
  }
  switch (status) {
    case 404:
    case 410:
      return { kind: 'gone' };
    case 406:
    case 429:
      return transient('throttled', headers['retry-after'], now);
    case 408:
    case 425:
      return transient('unavailable', headers['retry-after'], now);
    case 413:
      return { kind: 'failed', reason: 'too_large' };
    case 400:
    case 401:
    case 403:
      if (isKeyMismatch(status, body)) return { kind: 'failed', reason: 'key_mismatch' };
      return { kind: 'failed', reason: status === 400 ? 'refused' : 'vapid_refused' };
    // Not implemented, and a version that is not supported: a retry would be refused too.
    case 501:
    case 505:
      return { kind: 'failed', reason: 'refused' };
    default:
      if (status >= 500) return transient('unavailable', headers['retry-after'], now);
      return { kind: 'failed', reason: 'refused' };
  }
}

// Apple, Mozilla and Google each report it differently, Google in two ways.
function isKeyMismatch(status: 400 | 401 | 403, body: string): boolean {
  if (status === 400) return body.includes('VapidPkHashMismatch');
  // Mozilla's errno is 109 for every fault of a token: only the text differs.
  if (status === 401) return /public key mismatch/i.test(body);
  return /do(es)? not correspond|MismatchSenderId/.test(body);
}

/** `Retry-After` (RFC 9110 §10.2.3) is seconds or a date. */
function transient(reason: FailureReason, after: string | undefined, now: Date): Outcome {
  if (after === undefined) return { kind: 'transient', reason };
  const waitMs = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - now.getTime();
  if (Number.isNaN(waitMs)) return { kind: 'transient', reason };
  return { kind: 'transient', reason, retryAfterMs: Math.max(0, waitMs) };
}

/** How a push ends. `unreached`: it was not attempted. */
export type Settled = FinalOutcome | { readonly kind: 'unreached' };

/** What a push does after an attempt. */
export type Step =
  | { readonly kind: 'settle'; readonly as: Settled }
  | { readonly kind: 'retry'; readonly afterMs: number }
  | { readonly kind: 'use_other_pair' };

/** What decides about the next attempt of a push. */
export interface AttemptedPush {
  /** Attempts so far. */
  readonly attempts: number;
  /** Whether the project has a key pair that the push has not tried. */
  readonly hasOtherPair: boolean;
  /** Whether a caller waits for the counts. */
  readonly isAwaited: boolean;
  /** Until the last push. */
  readonly msLeft: number;
  /** From 0 to below 1; spreads retries. */
  readonly random: number;
}

const maxAttempts = 3;
/** Milliseconds before the second attempt, doubled before the third. Half of it is random. */
const backoffMs = 500;

export function stepAfter(outcome: Outcome, push: AttemptedPush): Step {
  const { attempts, hasOtherPair, isAwaited, msLeft, random } = push;
  if (outcome.kind === 'failed' && outcome.reason === 'key_mismatch' && hasOtherPair) {
    return { kind: 'use_other_pair' };
  }
  if (outcome.kind !== 'transient') return { kind: 'settle', as: outcome };
  const { reason, retryAfterMs = 0, isTimeout = false, isSent = false } = outcome;
  const jitteredMs = backoffMs * 2 ** (attempts - 1) * (0.5 + random / 2);
  const afterMs = Math.max(retryAfterMs, jitteredMs);
  // What the push service may have accepted would be shown twice, and a caller does not wait for another time-out.
  const isOver = isTimeout && (isSent || isAwaited);
  const isGivenUp = attempts >= maxAttempts || isOver || afterMs >= msLeft;
  return isGivenUp
    ? { kind: 'settle', as: { kind: 'failed', reason } }
    : { kind: 'retry', afterMs };
}
