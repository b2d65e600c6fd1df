import { createECDH } from 'node:crypto';
import webpush from 'web-push';
import type { VapidKeys } from '../contract/project.ts';
import { isUncompressedPoint } from '../contract/schemas/subscription.ts';

/** The message says which key is invalid. */
export class InvalidVapidPair extends Error {
  override readonly name = 'InvalidVapidPair';
}

/** Creates a key pair, base64url. */
export const newVapidPair: () => VapidKeys = webpush.generateVAPIDKeys;

/**
 * Parses an existing pair, base64 or base64url, so that a project can keep its subscriptions.
 * @throws {InvalidVapidPair}
 */
export function readVapidPair(publicKey: string, privateKey: string): VapidKeys {
  const point = Buffer.from(publicKey, 'base64');
  if (!isUncompressedPoint(point)) {
    throw new InvalidVapidPair(
      'Invalid application server key (public VAPID key): use base64url of an uncompressed P-256 point (65 bytes).',
    );
  }
  const scalar = Buffer.from(privateKey, 'base64');
  if (scalar.length !== 32) {
    throw new InvalidVapidPair('Invalid private VAPID key: use base64url of 32 bytes.');
  }
  if (!publicKeyOf(scalar).equals(point)) {
    throw new InvalidVapidPair(
      'The keys are not a pair: the application server key belongs to another private VAPID key.',
    );
  }
  return { publicKey: point.toString('base64url'), privateKey: scalar.toString('base64url') };
}

/** Whether both keys, base64url, belong together. @throws {InvalidVapidPair} if the private one is invalid. */
export function isVapidPair({ publicKey, privateKey }: VapidKeys): boolean {
  return publicKeyOf(Buffer.from(privateKey, 'base64url')).toString('base64url') === publicKey;
}

function publicKeyOf(scalar: Buffer): Buffer {
  const curve = createECDH('prime256v1');
  try {
    curve.setPrivateKey(scalar);
  } catch {
    throw new InvalidVapidPair('Invalid private VAPID key: it is out of range for P-256.');
  }
  return curve.getPublicKey();
}
