/** Converts base64 or base64url, padded or not, to base64url without padding. */
export function normalizeKey(key: string): string {
  return key.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

export function encodeKey(bytes: ArrayBuffer): string {
  return normalizeKey(btoa(String.fromCharCode(...new Uint8Array(bytes))));
}
