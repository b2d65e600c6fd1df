import { createPublicKey, verify } from 'node:crypto';
import { isUncompressedPoint } from '../../contract/p256.ts';
import { pushRefusal } from './refusal.ts';

const maxLifetime = 24 * 60 * 60 * 1000;

interface VapidOptions {
  /** The only audience a token may name: origin of the endpoints. */
  readonly origin: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Verified headers to remember; a sender reuses one for all its pushes. */
  readonly capacity?: number;
}

interface VerifiedToken {
  readonly applicationServerKey: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
}

/** Checks `Authorization: vapid t=…, k=…` headers (RFC 8292 §2 and §3). */
export class VapidVerifier {
  readonly #origin: string;
  readonly #now: () => number;
  readonly #capacity: number;
  /** By the header's text. Emptied when full, which is rare enough to need no order. */
  readonly #verified = new Map<string, VerifiedToken>();

  constructor({ origin, now, capacity = 1000 }: VapidOptions) {
    this.#origin = origin;
    this.#now = now;
    this.#capacity = capacity;
  }

  /**
   * @returns the application server key that signed the token.
   * @throws {Refusal} 401, naming what is wrong with the header, the token or the key.
   */
  verify(authorization: string | undefined): string {
    if (authorization === undefined) throw refusal('The Authorization header is missing.');
    const token = this.#verified.get(authorization) ?? this.#remember(authorization);
    const remaining = token.expires - this.#now();
    if (remaining <= 0) throw refusal('The token has expired.');
    if (remaining > maxLifetime) throw refusal('The token expires more than 24 hours ahead.');
    return token.applicationServerKey;
  }

  #remember(authorization: string): VerifiedToken {
    const token = verifyHeader(authorization, this.#origin);
    if (this.#verified.size >= this.#capacity) this.#verified.clear();
    this.#verified.set(authorization, token);
    return token;
  }
}

function verifyHeader(authorization: string, origin: string): VerifiedToken {
  const { token, key } = readParameters(authorization);
  const [header = '', payload = '', signature = '', ...rest] = token.split('.');
  if (rest.length > 0) throw refusal('The token is not a JWT.');
  if (readJson(header).alg !== 'ES256') throw refusal('The token is not signed by ES256.');
  if (!isSignedBy(key, `${header}.${payload}`, signature)) {
    throw refusal('The signature of the token does not verify with the key k.');
  }
  const { aud, exp, sub } = readJson(payload);
  if (aud !== origin) throw refusal(`The audience of the token must be ${origin}.`);
  if (typeof exp !== 'number') throw refusal('The token does not say when it expires.');
  if (typeof sub !== 'string' || !/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/.test(sub)) {
    throw refusal('The subject of the token must be a mailto: or https: address.');
  }
  return { applicationServerKey: key.toString('base64url'), expires: exp * 1000 };
}

/** RFC 8292 §3: parameters in any order, each a token or a quoted string. */
function readParameters(authorization: string): { token: string; key: Buffer } {
  const [, list] = /^vapid +(.*)$/i.exec(authorization) ?? [];
  if (list === undefined) throw refusal('The Authorization header is not of the vapid scheme.');
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

function readJson(part: string): Readonly<Record<string, unknown>> {
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
