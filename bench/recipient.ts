import { createHash } from 'node:crypto';
import type { Recipient } from '../contract/audience.ts';

export interface SubscriptionLike {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

/** The recipient of a subscription as browsers state it. Its endpoint is split as it is spelled. */
export function recipient({ endpoint, keys }: SubscriptionLike): Recipient {
  const [, origin = '', path = ''] = /^(https?:\/\/[^/]*)?(.*)$/s.exec(endpoint)!;
  return {
    endpointHash: createHash('sha256').update(endpoint).digest(),
    origin,
    path,
    p256dh: Buffer.from(keys.p256dh, 'base64url'),
    auth: Buffer.from(keys.auth, 'base64url'),
  };
}
