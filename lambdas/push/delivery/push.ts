import type { Recipient } from '../../../contract/audience.ts';
import type { FailureReason } from '../../../contract/failure-reasons.ts';
import type { VapidPair } from '../../../contract/project.ts';
import { type Encrypt, encryption } from '../crypto/encryption.ts';
import type { PushRequest } from '../transport/transport.ts';
import type { Chunk, DeliverySettings } from './chunk.ts';

/** What the pushes to one origin share that are signed with one key pair. It is released with the last of them. */
export interface Origin {
  readonly name: string;
  readonly vapid: VapidPair;
  /** Undefined until the first push is prepared. A VAPID token is valid for one origin only. */
  headers?: PushRequest['headers'];
}

export interface Push {
  readonly recipient: Recipient;
  origin: Origin;
  readonly encrypt: Encrypt;
  /** Undefined until the push is prepared; it stays so if the keys are invalid. */
  body?: Buffer;
  /** Attempts so far. */
  attempts: number;
  /** Why the last attempt failed. */
  lastFailure?: FailureReason;
  /** Whether the push service refused the pair that is stored with the subscription. */
  isOtherPair?: boolean;
}

/**
 * The pushes of a chunk by origin and key pair: a token is then signed once for them, and kept
 * no longer than the pushes that need it, however many host names someone has subscribed with.
 */
export function pushesByOrigin({ recipients, messages, vapid }: Chunk): readonly OriginPushes[] {
  const encrypts = messages.map(encryption);
  const { current, previous } = vapid;
  const withCurrent = new Map<string, OriginPushes>();
  const withPrevious = new Map<string, OriginPushes>();
  for (const [index, recipient] of recipients.entries()) {
    const isPrevious = previous !== undefined && previous.number === (recipient.pair ?? 0);
    const byOrigin = isPrevious ? withPrevious : withCurrent;
    let group = byOrigin.get(recipient.origin);
    if (group === undefined) {
      group = [{ name: recipient.origin, vapid: isPrevious ? previous : current }, []];
      byOrigin.set(recipient.origin, group);
    }
    const [origin, pushes] = group;
    const encrypt = encrypts[index % encrypts.length]!;
    pushes.push({ recipient, origin, encrypt, attempts: 0 });
  }
  return [...withCurrent.values(), ...withPrevious.values()];
}

type OriginPushes = readonly [Origin, Push[]];

/** Encrypts a push, unless an earlier attempt did, and signs the token of its origin. */
export function prepare(push: Push, { sign, ttl }: Pick<DeliverySettings, 'sign' | 'ttl'>): void {
  const { origin, recipient, encrypt } = push;
  try {
    origin.headers ??= {
      Authorization: sign(origin.vapid, origin.name),
      'Content-Encoding': 'aes128gcm',
      'Content-Type': 'application/octet-stream',
      TTL: String(ttl),
    };
    push.body ??= encrypt(recipient);
  } catch {
    // Invalid keys: `body` stays undefined and the push counts as `unsendable`.
  }
}
