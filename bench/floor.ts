import { createECDH } from 'node:crypto';

export interface Subscription {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

const curve = createECDH('prime256v1');

/**
 * What no sender can do without, since every message wants a key pair of its own (RFC 8291 §3.1):
 * making it and agreeing on a secret, by the quickest way that Node has.
 */
export function agreeWithAll(subscriptions: readonly Subscription[]): void {
  for (const { keys } of subscriptions) {
    curve.generateKeys();
    curve.computeSecret(keys.p256dh, 'base64url');
  }
}
