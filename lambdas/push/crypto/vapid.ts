import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { VapidKeys } from '../../../contract/wire/project.ts';

/** For how long a token is valid: half of what RFC 8292 §2 allows, because clocks differ. */
const tokenValiditySeconds = 12 * 60 * 60;
/** How long before its expiry a token is replaced. Apple asks for at most one per hour. */
const renewBeforeSeconds = 2 * 60 * 60;
/** Tokens that are kept. Above it the oldest is dropped. */
const maxTokens = 1000;

/** Returns the `Authorization` header for a project's pushes to an origin. */
export type VapidSigner = (keys: VapidKeys, origin: string) => string;

/**
 * Signs one token per key pair and origin, and uses it for every push to that origin (RFC 8292 §2
 * allows it): a signature costs about as much as the rest of a push.
 * @param subject `mailto:` or `https:` address where push services can reach the operator.
 */
export function vapidSigner(subject: string, clock: () => Date): VapidSigner {
  const tokens = new Map<string, { authorization: string; renewAt: number }>();

  return ({ publicKey, privateKey }, origin) => {
    const now = Math.floor(clock().getTime() / 1000);
    const key = `${publicKey} ${origin}`;
    const known = tokens.get(key);
    if (known !== undefined && now < known.renewAt) return known.authorization;

    const claims = { aud: origin, exp: now + tokenValiditySeconds, sub: subject };
    const token = signed(claims, privateKeyOf(publicKey, privateKey));
    const authorization = `vapid t=${token}, k=${publicKey}`;
    tokens.delete(key);
    tokens.set(key, { authorization, renewAt: now + tokenValiditySeconds - renewBeforeSeconds });
    if (tokens.size > maxTokens) tokens.delete(tokens.keys().next().value!);
    return authorization;
  };
}

const joseHeader = base64url('{"typ":"JWT","alg":"ES256"}');

/** A JSON Web Token with an ES256 signature (RFC 7515, RFC 7518 §3.4). */
function signed(claims: object, key: KeyObject): string {
  const content = `${joseHeader}.${base64url(JSON.stringify(claims))}`;
  const signature = sign('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' });
  return `${content}.${signature.toString('base64url')}`;
}

function privateKeyOf(publicKey: string, privateKey: string): KeyObject {
  const point = Buffer.from(publicKey, 'base64url');
  const x = point.toString('base64url', 1, 33);
  const y = point.toString('base64url', 33);
  const key = { kty: 'EC', crv: 'P-256', x, y, d: privateKey };
  return createPrivateKey({ key, format: 'jwk' });
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url');
}
