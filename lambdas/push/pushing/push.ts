import type { Recipient } from '../../../contract/infrastructure/slice.ts';
import type { FailureReason } from '../../../contract/wire/counts.ts';
import { limits } from '../../../contract/wire/limits.ts';
import type { NotificationContent } from '../../../contract/wire/notification.ts';
import type { VapidPair, VapidPairs } from '../../../contract/wire/project.ts';
import type { HeaderName } from '../../../contract/wire/send-fields.ts';
import { encryption, topicHeader } from '../crypto/encryption.ts';
import type { VapidSigner } from '../crypto/vapid.ts';
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
