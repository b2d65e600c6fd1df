import { isUncompressedPoint } from '../../contract/schemas/subscription.ts';

/**
 * Normalises an application server key (RFC 8292 §3.2) to base64url without padding, so that keys can
 * be compared. Firefox registers channels with a padded key.
 * @throws {TypeError} unless it is an uncompressed P-256 point; `PushManager.subscribe` does the same.
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
