import type { Recipient } from '../../../contract/infrastructure/slice.ts';
import type { FailureReason } from '../../../contract/wire/counts.ts';
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

/** A serialised message, or what makes that of a recipient: it is made when it is encrypted. */
export type Message = Buffer | ((recipient: Recipient) => Buffer);

/** @throws {Error} if the recipient's keys are invalid. */
export type EncryptFor = (recipient: Recipient) => Buffer;

/** Shared by the pushes to one origin that are signed with one key pair, and released with the last of them. */
export interface Origin {
  readonly name: string;
  readonly vapid: VapidPair;
  /** Undefined until the first push is prepared. A VAPID token is valid for one origin only. */
  headers?: PushRequest['headers'];
}

export interface Push {
  readonly recipient: Recipient;
  origin: Origin;
  readonly encrypt: EncryptFor;
  /** Undefined until the push is prepared. The headers of its origin, and its topic if it has one. */
  headers?: PushRequest['headers'] | undefined;
  /** Undefined until the push is prepared; it stays so if the keys are invalid. */
  body?: Buffer;
  /** Epoch ms at which its recipient was read last. */
  wantedAt: number;
  /** Attempts so far. */
  attempts: number;
  /** Why the last attempt failed. */
  lastFailure?: FailureReason;
  /** Whether the push service refused the pair that is stored with the subscription. */
  isOtherPair?: boolean;
}

/**
 * The pushes to some recipients by origin and key pair: a token is then signed once for them, and kept
 * no longer than the pushes that need it, however many host names someone has subscribed with.
 * @param encrypts of the messages; recipients take turns.
 * @param wantedAt see {@link Push}.
 */
export function pushesByOrigin(
  recipients: readonly Recipient[],
  wantedAt: number,
  encrypts: readonly EncryptFor[],
  { current, previous }: VapidPairs<VapidPair>,
): readonly OriginPushes[] {
  const withCurrent = new Map<string, OriginPushes>();
  const withPrevious = new Map<string, OriginPushes>();
  for (const [index, recipient] of recipients.entries()) {
    const isPrevious =
      previous !== undefined && previous.number === (recipient.vapidPairNumber ?? 0);
    const byOrigin = isPrevious ? withPrevious : withCurrent;
    let group = byOrigin.get(recipient.origin);
    if (group === undefined) {
      group = [{ name: recipient.origin, vapid: isPrevious ? previous : current }, []];
      byOrigin.set(recipient.origin, group);
    }
    const [origin, pushes] = group;
    const encrypt = encrypts[index % encrypts.length]!;
    pushes.push({ recipient, origin, encrypt, wantedAt, attempts: 0 });
  }
  return [...withCurrent.values(), ...withPrevious.values()];
}

export type OriginPushes = readonly [Origin, Push[]];

/**
 * Returns a function that sets the headers of a push, with the token of its origin, and encrypts it,
 * unless that has been done. Without headers it cannot be signed, and without a body its keys are invalid.
 * @param pushService of all pushes, as `pushServiceOf` names it.
 * @param onFault is called with the error of a signature.
 */
export function preparer(
  options: PushOptions,
  pushService: string,
  sign: VapidSigner,
  onFault: (error: unknown) => void,
): (push: Push) => void {
  const fixed = {
    'Content-Encoding': 'aes128gcm',
    'Content-Type': 'application/octet-stream',
    ...optionHeaders(options, pushService),
  };
  const topicOf = options.topic === undefined ? undefined : topicHeader(options.topic);

  return (push) => {
    if (push.headers !== undefined) return;
    const { origin, recipient, encrypt } = push;
    try {
      origin.headers ??= { Authorization: sign(origin.vapid, origin.name), ...fixed };
      push.headers = origin.headers;
    } catch (error) {
      onFault(error);
      return;
    }
    try {
      push.body ??= encrypt(recipient);
      if (topicOf) push.headers = { ...origin.headers, Topic: topicOf(recipient.auth) };
    } catch {
      // Invalid keys: `body` stays undefined and the push counts as `unsendable`.
    }
  };
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

/** The project's other pair, unless the push has tried both. */
export function otherPairOf(
  { origin, isOtherPair }: Push,
  { current, previous }: VapidPairs<VapidPair>,
): VapidPair | undefined {
  if (isOtherPair) return undefined;
  // By number: the pairs may have been read again.
  return [current, previous].find((pair) => pair && pair.number !== origin.vapid.number);
}

/** Has a push signed with another key pair. The signer remembers tokens: it signs once per origin and pair. */
export function useOtherPair(push: Push, vapid: VapidPair): void {
  push.origin = { name: push.origin.name, vapid };
  push.headers = undefined;
  push.isOtherPair = true;
  push.lastFailure = 'key_mismatch';
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
      /** Whether it is `no_response` because the time was over, and whether the whole push had been sent. */
      readonly isTimeout?: boolean;
      readonly isSent?: boolean;
    }
  | { readonly kind: 'failed'; readonly reason: FailureReason };

type Transient = Extract<Outcome, { readonly kind: 'transient' }>;
type FinalOutcome = Exclude<Outcome, Transient>;

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
