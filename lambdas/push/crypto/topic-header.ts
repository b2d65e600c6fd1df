import { hash } from 'node:crypto';
import { hmacSha256 } from './hmac-sha256.ts';

/**
 * Returns the values of the `Topic` header (RFC 8030 §5.4) for one topic. Push services see the header,
 * so it is an HMAC with the subscription's secret, which they do not know: they can neither read the
 * topic nor tell that two subscriptions have the same one. 24 bytes are the 32 characters that the
 * standard allows; Apple refuses some shorter values.
 */
export function topicHeader(topic: string): (auth: Uint8Array) => string {
  // The label keeps it apart from the key derivation of RFC 8291, which uses the same secret.
  const info = Buffer.concat([label, hash('sha256', topic, 'buffer')]);
  return (auth) => hmacSha256(auth, info).toString('base64url', 0, 24);
}

const label = Buffer.from('Carillon topic\0');
