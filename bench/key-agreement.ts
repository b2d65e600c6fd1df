import { createECDH } from 'node:crypto';

export interface Subscription {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

const curve = createECDH('prime256v1');

/**
 * The floor of a sender that makes a key pair for each message, as RFC 8291 §3.1 says, and agrees on a key: the
 * fastest way in Node. One key pair per subscription would go below it, and give up forward secrecy.
 */
export function agreeKeys(subscriptions: readonly Subscription[]): void {
  for (const { keys } of subscriptions) {
    curve.generateKeys();
    curve.computeSecret(keys.p256dh, 'base64url');
  }
}
