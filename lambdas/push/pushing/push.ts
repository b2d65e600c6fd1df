import type { Recipient } from '../../../contract/infrastructure/slice.ts';
import {
  type FailureReason,
  failureFacts,
  failureReasonNames,
} from '../../../contract/wire/counts.ts';
import { limits } from '../../../contract/wire/limits.ts';
import type { NotificationContent } from '../../../contract/wire/notification.ts';
import type { VapidPair, VapidPairs } from '../../../contract/wire/project.ts';
import type { HeaderName } from '../../../contract/wire/send-fields.ts';
import { encryption, topicHeader } from '../crypto/encryption.ts';
import type { VapidSigner } from '../crypto/vapid.ts';
import type { PushResponse } from '../transport/response.ts';
import type { PushRequest } from '../transport/transport.ts';

/** Become headers of each push (RFC 8030 §5.2 to §5.4). */
export type PushOptions = Pick<NotificationContent, HeaderName>;

/** A serialised message, or a function that makes it for a recipient when it is encrypted. */
export type Message = Buffer | ((recipient: Recipient) => Buffer);

/** @throws {Error} if the recipient's keys are invalid. */
export type EncryptFor = (recipient: Recipient) => Buffer;

export interface Push {
  readonly recipient: Recipient;
  readonly encrypt: EncryptFor;
  /** Its place among the pushes to its push service, whose recipients are in the order of their keys. */
  readonly number: number;
  /** The pair that it is signed with. */
  vapid: VapidPair;
  /** What is posted. Undefined until it is prepared, and while it waits for a retry: 200,000 bodies are 1 GB. */
  headers?: PushRequest['headers'] | undefined;
  body?: Buffer | undefined;
  /** Epoch ms at which its recipient was read last. */
  wantedAt: number;
  /** Attempts so far. Refusals (429, 406) are counted apart. */
  attempts: number;
  refusals: number;
  /** Why the last attempt failed. */
  lastFailure?: FailureReason;
  /** Whether the push service refused the pair that is stored with the subscription. */
  isOtherPair?: boolean;
}

/** The pair that a subscription was made with. */
export function pairOf(
  { vapidPairNumber = 0 }: Recipient,
  { current, previous }: VapidPairs<VapidPair>,
): VapidPair {
  return previous?.number === vapidPairNumber ? previous : current;
}

/** Prepares a push, unless that has been done. @returns why it cannot be sent, if so. */
export type Prepare = (push: Push) => FailureReason | undefined;

/**
 * @param pushService of all pushes, as `pushServiceOf` names it.
 * @param isAccepted whether the deployment accepts an origin.
 * @param onFault is called with the error of a signature.
 */
export function preparer(
  options: PushOptions,
  pushService: string,
  sign: VapidSigner,
  isAccepted: (origin: string) => boolean,
  onFault: (error: unknown) => void,
): Prepare {
  const fixed = {
    'Content-Encoding': 'aes128gcm',
    'Content-Type': 'application/octet-stream',
    ...optionHeaders(options, pushService),
  };
  const topicOf = options.topic === undefined ? undefined : topicHeader(options.topic);
  /** By pair and origin: a VAPID token is valid for one origin only. */
  const signed = new Map<number, Map<string, PushRequest['headers'] | FailureReason>>();

  return (push) => {
    if (push.headers !== undefined) return undefined;
    const { recipient, encrypt, vapid } = push;
    let ofPair = signed.get(vapid.number);
    if (ofPair === undefined) {
      ofPair = new Map();
      signed.set(vapid.number, ofPair);
    }
    let headers = ofPair.get(recipient.origin);
    if (headers === undefined) {
      headers = headersFor(recipient.origin, vapid);
      ofPair.set(recipient.origin, headers);
    }
    if (typeof headers === 'string') return headers;
    try {
      push.body ??= encrypt(recipient);
      push.headers = topicOf ? { ...headers, Topic: topicOf(recipient.auth) } : headers;
      return undefined;
    } catch {
      // Invalid keys.
      return 'unsendable';
    }
  };

  function headersFor(origin: string, vapid: VapidPair): PushRequest['headers'] | FailureReason {
    if (!isAccepted(origin)) return 'unsendable';
    try {
      return { Authorization: sign(vapid, origin), ...fixed };
    } catch (error) {
      onFault(error);
      return 'internal_error';
    }
  }
}

/** The headers of RFC 8030 §5.2 and §5.3. Urgency `normal` is the absence of the header. */
function optionHeaders({ ttl = limits.messageTtl, urgency = 'normal' }: PushOptions, to: string) {
  return {
    TTL: String(ttl),
    ...(urgency !== 'normal' && { Urgency: urgency }),
    // Without it, WNS responds with 400 to a TTL of 0.
    ...(ttl === 0 && to === 'wns' && { 'X-WNS-Cache-Policy': 'no-cache' }),
  };
}

/** The project's other pair; undefined if the push has tried both. */
export function otherPairOf(
  { vapid, isOtherPair }: Push,
  { current, previous }: VapidPairs<VapidPair>,
): VapidPair | undefined {
  if (isOtherPair) return undefined;
  // By number: the pairs may have been read again.
  return [current, previous].find((pair) => pair && pair.number !== vapid.number);
}

export function encryptionFor(message: Message): EncryptFor {
  if (typeof message !== 'function') return encryption(message);
  return (recipient) => encryption(message(recipient))(recipient);
}

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
      /** Whether it is `no_response` because the time was over. */
      readonly isTimeout?: boolean;
      /** Whether it is `no_response` because its host, which anybody can have invented, does not exist. */
      readonly isUnknownHost?: boolean;
      /** Whether the push service may have accepted the push: a retry would show it twice. */
      readonly mayHaveArrived?: boolean;
    }
  | { readonly kind: 'failed'; readonly reason: FailureReason };

type Transient = Extract<Outcome, { readonly kind: 'transient' }>;
type FinalOutcome = Exclude<Outcome, Transient>;

/**
 * Interprets a push service's response. RFC 8030 §5 and §7.3 define 201 and 404; the others are what
 * the push services document, or have been observed to send.
 */
export function outcomeOf({ status, headers, body }: PushResponse, clock: () => Date): Outcome {
  if (status >= 200 && status < 300) {
    // WNS accepts messages that it drops, and says so only in this header.
    const dropped = ['dropped', 'channelthrottled'].includes(headers['x-wns-status'] ?? '');
    return dropped ? { kind: 'failed', reason: 'dropped' } : { kind: 'delivered' };
  }
  if (status === 404 || status === 410) return { kind: 'gone' };
  const reason = isKeyMismatch(status, body) ? 'key_mismatch' : reasonOf(status);
  return failureFacts(reason).isRetried
    ? transient(reason, headers['retry-after'], clock)
    : { kind: 'failed', reason };
}

function reasonOf(status: number): FailureReason {
  const reason = failureReasonNames.find((one) => failureFacts(one).statuses?.includes(status));
  return reason ?? (status >= 500 ? 'unavailable' : 'refused');
}

// Apple, Mozilla and Google each report it differently, Google in two ways.
function isKeyMismatch(status: number, body: string): boolean {
  if (status === 400) return body.includes('VapidPkHashMismatch');
  // Mozilla's errno is 109 for every fault of a token: only the text differs.
  if (status === 401) return /public key mismatch/i.test(body);
  return status === 403 && /do(es)? not correspond|MismatchSenderId/.test(body);
}

/** `Retry-After` (RFC 9110 §10.2.3) is seconds or a date. */
function transient(reason: FailureReason, after: string | undefined, clock: () => Date): Outcome {
  if (after === undefined) return { kind: 'transient', reason };
  const isSeconds = /^\d+$/.test(after);
  const waitMs = isSeconds ? Number(after) * 1000 : Date.parse(after) - clock().getTime();
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
export interface AttemptedPush extends Pick<Push, 'attempts' | 'refusals'> {
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
/** The same after a refusal (429, 406), up to the longest: Google documents a minute. */
export const refusedMs = { first: 1000, longest: 60_000 } as const;

export function isRefusal(outcome: Outcome): boolean {
  return outcome.kind === 'transient' && outcome.reason === 'throttled';
}

/** A refusal does not count as an attempt: a push service that limits the rate accepts the push later. */
export function stepAfter(outcome: Outcome, push: AttemptedPush): Step {
  const { attempts, refusals, hasOtherPair, isAwaited, msLeft, random } = push;
  if (outcome.kind === 'failed' && outcome.reason === 'key_mismatch' && hasOtherPair) {
    return { kind: 'use_other_pair' };
  }
  if (outcome.kind !== 'transient') return { kind: 'settle', as: outcome };
  const { reason, retryAfterMs, isTimeout = false, mayHaveArrived = false } = outcome;
  const pauseMs =
    isRefusal(outcome) && retryAfterMs === undefined
      ? Math.min(refusedMs.longest, refusedMs.first * 2 ** (refusals - 1))
      : backoffMs * 2 ** Math.max(0, attempts - 1);
  const afterMs = Math.max(retryAfterMs ?? 0, pauseMs * (0.5 + random / 2));
  // A caller does not wait for another time-out.
  const isOver = mayHaveArrived || (isTimeout && isAwaited);
  const isGivenUp = attempts >= maxAttempts || isOver || afterMs >= msLeft;
  return isGivenUp
    ? { kind: 'settle', as: { kind: 'failed', reason } }
    : { kind: 'retry', afterMs };
}
