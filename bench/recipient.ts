import { createHash } from 'node:crypto';
import type { Recipient } from '../contract/audience.ts';

type Key = Uint8Array | string;

export interface SubscriptionLike {
  readonly endpoint: string;
  /** Bytes, or base64url. */
  readonly keys: { readonly p256dh: Key; readonly auth: Key };
}

/** The recipient of a subscription as browsers state it. Its endpoint is split as it is spelled. */
export function recipient({ endpoint, keys }: SubscriptionLike): Recipient {
  const [, origin = '', path = ''] = /^(https?:\/\/[^/]*)?(.*)$/s.exec(endpoint)!;
  return {
    endpointHash: createHash('sha256').update(endpoint).digest(),
    origin,
    path,
    p256dh: decode(keys.p256dh),
    auth: decode(keys.auth),
  };
}

function decode(key: Key): Uint8Array {
  return typeof key === 'string' ? Buffer.from(key, 'base64url') : key;
}
