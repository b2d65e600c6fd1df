import { createECDH } from 'node:crypto';

export interface Subscription {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

const curve = createECDH('prime256v1');

/**
 * The floor: work that RFC 8291 §3.1 requires of every sender. Each message needs a new key pair and
 * an ECDH key agreement; this is the fastest way in Node.
 */
export function agreeKeys(subscriptions: readonly Subscription[]): void {
  for (const { keys } of subscriptions) {
    curve.generateKeys();
    curve.computeSecret(keys.p256dh, 'base64url');
  }
}
