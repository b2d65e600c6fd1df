import { isUncompressedPoint } from '../../contract/p256.ts';

/**
 * Brings an application server key (RFC 8292 §3.2) into the one spelling keys are compared in:
 * base64url without padding. Firefox registers channels with a padded one.
 * @throws {TypeError} if it is no uncompressed point of P-256, as `PushManager.subscribe` does.
 */
export function normalizeApplicationServerKey(key: string): string {
  const bytes = Buffer.from(key, 'base64');
  if (!/^[\w+/-]+={0,2}$/.test(key) || !isUncompressedPoint(bytes)) {
    throw new TypeError(
      'applicationServerKey must be base64url of an uncompressed P-256 point (65 bytes).',
    );
  }
  return bytes.toString('base64url');
}
