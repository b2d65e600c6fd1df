import { createECDH, createPrivateKey, createPublicKey, ECDH, type JsonWebKey } from 'node:crypto';
import webpush from 'web-push';
import { parseJson } from '../contract/text/text.ts';
import { decodeBase64, encodeBase64url } from '../contract/wire/fields.ts';
import type { VapidKeys } from '../contract/wire/project.ts';

/** The message says which key is invalid. */
export class InvalidVapidPair extends Error {
  override readonly name = 'InvalidVapidPair';
}

/** Creates a key pair, base64url. */
export const newVapidPair: () => VapidKeys = webpush.generateVAPIDKeys;

/** The keys of a pair that a text has. Leading zeros may be missing, or too many. */
interface FoundKeys {
  /** The private key. */
  readonly scalar?: Uint8Array | undefined;
  /** The public key. */
  readonly point?: Uint8Array | undefined;
}

const curve = 'prime256v1';
const scalarBytes = 32;

/**
 * Reads an existing pair, so that a project can keep its subscriptions. Each key is its bytes in base64url, base64 or
 * hex; PEM, DER in base64, or JWK; or JSON with both keys, as web-push prints it.
 * @param publicKey is compared with the private key. Default: the one that follows from it.
 * @throws {InvalidVapidPair}
 */
export function readVapidPair(publicKey: string | undefined, privateKey: string): VapidKeys {
  const given = publicKey === undefined ? {} : keysIn(publicKey, 'point');
  if (publicKey !== undefined && given.point === undefined) throw invalidPublicKey();
  const found = keysIn(privateKey, 'scalar');
  const points = [given.point, found.point].flatMap((point) =>
    point ? [uncompressed(point)] : [],
  );
  const scalar = paddedScalar(found.scalar, points.length > 0);
  const point = publicKeyOf(scalar);
  if (!points.every((one) => one.equals(point))) {
    throw new InvalidVapidPair(
      'The keys are not a pair: the application server key belongs to another private VAPID key.',
    );
  }
  return { publicKey: encodeBase64url(point), privateKey: encodeBase64url(scalar) };
}

/** Whether both keys, base64url, belong together. @throws {InvalidVapidPair} if the private one is invalid. */
export function isVapidPair({ publicKey, privateKey }: VapidKeys): boolean {
  return encodeBase64url(publicKeyOf(Buffer.from(privateKey, 'base64url'))) === publicKey;
}

function publicKeyOf(scalar: Buffer): Buffer {
  const ecdh = createECDH(curve);
  try {
    ecdh.setPrivateKey(scalar);
  } catch {
    throw new InvalidVapidPair('Invalid private VAPID key: it is out of range for P-256.');
  }
  return ecdh.getPublicKey();
}

function invalidPublicKey(): InvalidVapidPair {
  return new InvalidVapidPair(
    'Invalid application server key (public VAPID key): use a point on P-256 in base64url, base64 or hex, as PEM, or as JWK.',
  );
}

/** @param isConfirmed whether a public key tells if the scalar is complete. */
function paddedScalar(found: Uint8Array | undefined, isConfirmed: boolean): Buffer {
  const scalar = found && withoutZeros(found);
  if (scalar === undefined || scalar.length > scalarBytes) {
    throw new InvalidVapidPair(
      'Invalid private VAPID key: use base64url, base64 or hex of 32 bytes, PEM (PKCS#8 or SEC1), JWK, or the JSON that web-push prints.',
    );
  }
  // One key in 256 starts with a zero byte, and one in 65,536 with two. A still shorter key was probably cut off.
  if (found!.length < scalarBytes - 1 && !isConfirmed) {
    throw new InvalidVapidPair(
      `The private VAPID key has ${found!.length} bytes, not 32. If leading zeros are missing, give the public key too.`,
    );
  }
  return Buffer.concat([Buffer.alloc(scalarBytes - scalar.length), scalar]);
}

function uncompressed(found: Uint8Array): Buffer {
  // Some libraries leave out the first byte, which says that the point is not compressed.
  const point = found.length === 2 * scalarBytes ? [4, ...found] : withoutZeros(found);
  try {
    return ECDH.convertKey(Buffer.from(point), curve) as Buffer;
  } catch {
    throw invalidPublicKey();
  }
}

function withoutZeros(bytes: Uint8Array): Uint8Array {
  const start = bytes.findIndex((byte) => byte !== 0);
  return bytes.subarray(start === -1 ? bytes.length : start);
}

/** @param role the key that bytes without a format are. */
function keysIn(text: string, role: keyof FoundKeys): FoundKeys {
  const trimmed = text.replace(/^\ufeff/, '').trim();
  if (/^["{]/.test(trimmed)) return keysInJson(trimmed, role);
  if (trimmed.includes('-----BEGIN')) return keysInPem(trimmed);
  const bytes = bytesOf(trimmed);
  if (bytes === undefined) return {};
  // The bytes of one key in 256 start as JSON does.
  const keys = keysInBytes(bytes, role);
  return keys.scalar || keys.point ? keys : { [role]: bytes };
}

/** Keys in PEM, JSON or DER that was encoded once more. */
function keysInBytes(bytes: Uint8Array, role: keyof FoundKeys): FoundKeys {
  const text = Buffer.from(bytes).toString('latin1').trim();
  if (/^(-----BEGIN|{)/.test(text)) return keysIn(text, role);
  return isDer(bytes) ? keysInDer(bytes) : {};
}

/** The bytes of a text in hex, base64 or base64url. Undefined for a text that was cut off: it has bits left over. */
function bytesOf(text: string): Uint8Array | undefined {
  const compact = text.replace(/^'(.*)'$/s, '$1').replaceAll(/\s/g, '');
  const hex = compact.replace(/^0x/i, '').replaceAll(':', '');
  if (/^[0-9a-f]{56,}$/i.test(hex)) {
    return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  }
  const decoded = decodeBase64(compact);
  const plain = compact.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  return plain !== '' && decoded && encodeBase64url(decoded) === plain ? decoded : undefined;
}

function keysInJson(text: string, role: keyof FoundKeys): FoundKeys {
  const json = parseJson(text);
  if (json === undefined) return {};
  if (typeof json === 'string') return keysIn(json, role);
  const members = Object(json) as Readonly<Record<string, unknown>>;
  if (members.kty !== undefined) return keysInJwk(members);
  const keyIn = (name: RegExp, its: keyof FoundKeys) => {
    const [found] = Object.entries(members).filter(([member]) => name.test(member));
    return found && keysIn(String(found[1]), its)[its];
  };
  return { scalar: keyIn(/private_?key$/i, 'scalar'), point: keyIn(/public_?key$/i, 'point') };
}

function keysInJwk({ kty, crv, d, x, y }: JsonWebKey): FoundKeys {
  if (kty !== 'EC' || crv !== 'P-256') {
    throw new InvalidVapidPair(`The VAPID key is of ${[kty, crv].join(' ').trim()}, not of P-256.`);
  }
  const coordinates = [x, y].map((text) => withoutZeros(bytesOf(String(text)) ?? Buffer.alloc(0)));
  const point = coordinates.map((one) =>
    Buffer.concat([Buffer.alloc(Math.max(0, scalarBytes - one.length)), one]),
  );
  return {
    scalar: d === undefined ? undefined : bytesOf(d),
    point: x === undefined ? undefined : Buffer.concat([Buffer.of(4), ...point]),
  };
}

/** One or more keys. In a variable of the environment, their line feeds are often written as `\n`. */
function keysInPem(text: string): FoundKeys {
  const blocks = text
    .replaceAll(/\\[nr]/g, '\n')
    .matchAll(/-----BEGIN ([A-Z ]*)(PRIVATE|PUBLIC) KEY-----(.*?)-----END/gs);
  const found = [...blocks].map(([block, , , body = '']): FoundKeys => {
    if (block.includes('ENCRYPTED')) {
      throw new InvalidVapidPair(
        'The private VAPID key is encrypted. Decrypt it with openssl pkey.',
      );
    }
    const bytes = bytesOf(body);
    return bytes === undefined ? {} : keysInDer(bytes);
  });
  const keyIn = (name: keyof FoundKeys) => found.find((keys) => keys[name] !== undefined)?.[name];
  return { scalar: keyIn('scalar'), point: keyIn('point') };
}

/** Whether bytes are an ASN.1 sequence of their length. A key itself is shorter. */
function isDer(bytes: Uint8Array): boolean {
  const lengthBytes = bytes[1] === 0x81 ? 2 : 1;
  return (
    bytes[0] === 0x30 && bytes.length > 48 && bytes[lengthBytes] === bytes.length - 1 - lengthBytes
  );
}

function keysInDer(der: Uint8Array): FoundKeys {
  const key = Buffer.from(der);
  const readers = [
    () => createPrivateKey({ key, format: 'der', type: 'pkcs8' }),
    () => createPrivateKey({ key, format: 'der', type: 'sec1' }),
    () => createPublicKey({ key, format: 'der', type: 'spki' }),
  ];
  for (const read of readers) {
    try {
      return keysInJwk(read().export({ format: 'jwk' }));
    } catch (error) {
      if (error instanceof InvalidVapidPair) throw error;
    }
  }
  return {};
}
