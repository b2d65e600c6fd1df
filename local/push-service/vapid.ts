import { createPublicKey, verify } from 'node:crypto';
import { isUncompressedPoint } from '../../contract/wire/subscription.ts';
import { pushRefusal } from './refusal.ts';

/** RFC 8292 §2: a token must not expire more than 24 hours after the request. */
const maxLifetimeMs = 24 * 60 * 60 * 1000;

/** How many verified headers are cached: a sender uses one header for many pushes. */
const maxCachedHeaders = 1000;

interface VerifiedToken {
  readonly applicationServerKey: string;
  /** Milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

/** Verifies `Authorization: vapid t=…, k=…` headers (RFC 8292 §2 and §3). */
export class VapidVerifier {
  /** By the header's text. Cleared when full: that is too rare to need a better policy. */
  readonly #verified = new Map<string, VerifiedToken>();

  /**
   * @param origin of the endpoints, which must be the audience of every token.
   * @param nowMs milliseconds since the epoch.
   */
  constructor(
    private readonly origin: string,
    private readonly nowMs: () => number,
  ) {}

  /**
   * @returns the application server key that signed the token.
   * @throws {Refusal} 401 with the error in the header, the token or the key.
   */
  verify(authorization: string | undefined): string {
    if (authorization === undefined) throw refusal('The Authorization header is missing.');
    const token = this.#verified.get(authorization) ?? this.#verifyAndCache(authorization);
    const remainingMs = token.expiresAtMs - this.nowMs();
    if (remainingMs <= 0) throw refusal('The token has expired.');
    if (remainingMs > maxLifetimeMs) throw refusal('The token expires more than 24 hours ahead.');
    return token.applicationServerKey;
  }

  #verifyAndCache(authorization: string): VerifiedToken {
    const token = verifyHeader(authorization, this.origin);
    if (this.#verified.size >= maxCachedHeaders) this.#verified.clear();
    this.#verified.set(authorization, token);
    return token;
  }
}

function verifyHeader(authorization: string, origin: string): VerifiedToken {
  const { token, key } = parseParameters(authorization);
  const [header = '', payload = '', signature = '', ...rest] = token.split('.');
  if (rest.length > 0) throw refusal('The token is not a JWT.');
  if (parseJson(header).alg !== 'ES256') throw refusal('The token must be signed with ES256.');
  if (!isSignedBy(key, `${header}.${payload}`, signature)) {
    throw refusal('The signature of the token does not match the key k.');
  }
  const { aud, exp, sub } = parseJson(payload);
  if (aud !== origin) throw refusal(`The audience of the token must be ${origin}.`);
  if (typeof exp !== 'number') throw refusal('The expiry (exp) of the token must be a number.');
  if (typeof sub !== 'string' || !/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/.test(sub)) {
    throw refusal('The subject of the token must be a mailto: or https: address.');
  }
  return { applicationServerKey: key.toString('base64url'), expiresAtMs: exp * 1000 };
}

/** RFC 8292 §3: the parameters come in any order, each as a token or as a quoted string. */
function parseParameters(authorization: string): { token: string; key: Buffer } {
  const [, list] = /^vapid +(.*)$/i.exec(authorization) ?? [];
  if (list === undefined) throw refusal('The Authorization header must use the vapid scheme.');
  const parameters = new Map<string, string>();
  for (const parameter of list.split(',')) {
    const [, name, value] = /^\s*(\w+)\s*=\s*"?([\w.=-]+)"?\s*$/.exec(parameter) ?? [];
    if (name !== undefined && value !== undefined) parameters.set(name.toLowerCase(), value);
  }
  const token = parameters.get('t');
  if (token === undefined) throw refusal('The token t is missing.');
  const k = parameters.get('k');
  if (k === undefined) throw refusal('The key k is missing.');
  const key = Buffer.from(k, 'base64url');
  if (key.toString('base64url') !== k || !isUncompressedPoint(key)) {
    throw refusal('The key k must be an uncompressed P-256 point in base64url without padding.');
  }
  return { token, key };
}

function parseJson(part: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(Buffer.from(part, 'base64url').toString()));
  } catch {
    throw refusal('The token is not a JWT.');
  }
}

function isSignedBy(point: Buffer, signed: string, signature: string): boolean {
  const x = point.toString('base64url', 1, 33);
  const y = point.toString('base64url', 33);
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  return verify(
    'sha256',
    Buffer.from(signed),
    { key, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
}

function refusal(message: string) {
  return pushRefusal('invalidVapid', message);
}

/**
 * Normalises an application server key (RFC 8292 §3.2) to base64url without padding, so that keys can
 * be compared. Firefox registers channels with a padded key.
 * @throws {TypeError} unless it is an uncompressed P-256 point; `PushManager.subscribe` does the same.
 */
export function normalizeApplicationServerKey(key: string | undefined): string | undefined {
  if (key === undefined) return undefined;
  const bytes = Buffer.from(key, 'base64');
  if (!/^[\w+/-]+={0,2}$/.test(key) || !isUncompressedPoint(bytes)) {
    throw new TypeError(
      'applicationServerKey must be base64url of an uncompressed P-256 point (65 bytes).',
    );
  }
  return bytes.toString('base64url');
}
