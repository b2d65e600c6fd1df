import webpush from 'web-push';
import type { VapidKeys } from '../contract/project.ts';

/** Seconds a token is valid: half of what RFC 8292 §2 allows, so that clocks may differ. */
const validity = 12 * 60 * 60;
/** Seconds before its end that a token is made anew. Apple asks for no more than one an hour. */
const renewal = 2 * 60 * 60;
/** Tokens one function remembers; past it the oldest is forgotten. */
const capacity = 1000;

/** Yields the `Authorization` header for pushes of one project to one origin. */
export type VapidSigner = (keys: VapidKeys, origin: string) => string;

/**
 * Signs once for each pair of keys and origin (RFC 8292 §2 lets a token serve every push to its
 * origin): a signature costs more than the whole rest of a push.
 * @param subject `mailto:` or `https:` address at which a push service can reach the operator.
 */
export function vapidSigner(subject: string, clock: () => Date): VapidSigner {
  const tokens = new Map<string, { authorization: string; renewAt: number }>();

  return ({ publicKey, privateKey }, origin) => {
    const now = Math.floor(clock().getTime() / 1000);
    const key = `${publicKey} ${origin}`;
    const token = tokens.get(key);
    if (token !== undefined && now < token.renewAt) return token.authorization;

    const { Authorization: authorization } = webpush.getVapidHeaders(
      origin,
      subject,
      publicKey,
      privateKey,
      'aes128gcm',
      now + validity,
    );
    tokens.delete(key);
    tokens.set(key, { authorization, renewAt: now + validity - renewal });
    if (tokens.size > capacity) tokens.delete(tokens.keys().next().value!);
    return authorization;
  };
}
