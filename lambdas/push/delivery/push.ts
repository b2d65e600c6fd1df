import type { Recipient } from '../../../contract/audience.ts';
import type { FailureReason } from '../../../contract/failure-reasons.ts';
import type { VapidKeys } from '../../../contract/project.ts';
import { type Encrypt, encryption } from '../crypto/encryption.ts';
import type { PushRequest } from '../transport/transport.ts';
import type { Chunk, DeliverySettings } from './chunk.ts';

/** What the pushes to one origin share. It is released with the last of them. */
export interface Origin {
  readonly name: string;
  /** Undefined until the first push is prepared. A VAPID token is valid for one origin only. */
  headers?: PushRequest['headers'];
}

export interface Push {
  readonly recipient: Recipient;
  readonly origin: Origin;
  readonly encrypt: Encrypt;
  /** Undefined until the push is prepared; it stays so if the keys are invalid. */
  body?: Buffer;
  /** Attempts so far. */
  attempts: number;
  /** Why the last attempt failed. */
  lastFailure?: FailureReason;
}

/**
 * The pushes of a chunk, origin by origin: a token is then signed once per origin and chunk, and kept
 * no longer than the pushes that need it, however many host names someone has subscribed with.
 */
export function pushesByOrigin({ recipients, messages }: Chunk): Iterable<[Origin, Push[]]> {
  const encrypts = messages.map(encryption);
  const byOrigin = new Map<string, [Origin, Push[]]>();
  for (const [index, recipient] of recipients.entries()) {
    let group = byOrigin.get(recipient.origin);
    if (group === undefined) {
      group = [{ name: recipient.origin }, []];
      byOrigin.set(recipient.origin, group);
    }
    const [origin, pushes] = group;
    const encrypt = encrypts[index % encrypts.length]!;
    pushes.push({ recipient, origin, encrypt, attempts: 0 });
  }
  return byOrigin.values();
}

/** Encrypts a push, unless an earlier attempt did, and signs the token of its origin. */
export function prepare(
  push: Push,
  vapid: VapidKeys,
  { sign, ttl }: Pick<DeliverySettings, 'sign' | 'ttl'>,
): void {
  const { origin, recipient, encrypt } = push;
  try {
    origin.headers ??= {
      Authorization: sign(vapid, origin.name),
      'Content-Encoding': 'aes128gcm',
      'Content-Type': 'application/octet-stream',
      TTL: String(ttl),
    };
    push.body ??= encrypt(recipient);
  } catch {
    // Invalid keys: `body` stays undefined and the push counts as `unsendable`.
  }
}
