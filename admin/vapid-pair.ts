import { createECDH } from 'node:crypto';
import { isUncompressedPoint } from '../contract/p256.ts';
import type { VapidKeys } from '../contract/project.ts';

/** Keys that were given as a VAPID pair and are none; the message says which half is wrong. */
export class InvalidVapidPair extends Error {
  override readonly name = 'InvalidVapidPair';
}

/** Makes a key pair on P-256. */
export function newVapidPair(): VapidKeys {
  const curve = createECDH('prime256v1');
  curve.generateKeys();
  return {
    publicKey: curve.getPublicKey('base64url'),
    // Node drops a scalar's leading zeros, and one key in 256 has some.
    privateKey: Buffer.from(curve.getPrivateKey('hex').padStart(64, '0'), 'hex').toString(
      'base64url',
    ),
  };
}

/**
 * Reads a pair made elsewhere, so that a project can keep the subscriptions made under it.
 * @throws {InvalidVapidPair}
 */
export function readVapidPair(publicKey: string, privateKey: string): VapidKeys {
  const point = Buffer.from(publicKey, 'base64');
  if (!isUncompressedPoint(point)) {
    throw new InvalidVapidPair(
      'The public VAPID key must be base64url of an uncompressed P-256 point (65 bytes).',
    );
  }
  const scalar = Buffer.from(privateKey, 'base64');
  if (scalar.length !== 32) {
    throw new InvalidVapidPair('The private VAPID key must be base64url of 32 bytes.');
  }
  if (!pointOf(scalar).equals(point)) {
    throw new InvalidVapidPair('The VAPID keys are not a pair: they belong to different keys.');
  }
  return { publicKey: point.toString('base64url'), privateKey: scalar.toString('base64url') };
}

function pointOf(scalar: Buffer): Buffer {
  const curve = createECDH('prime256v1');
  try {
    curve.setPrivateKey(scalar);
  } catch {
    throw new InvalidVapidPair('The private VAPID key is out of the range of P-256.');
  }
  return curve.getPublicKey();
}
