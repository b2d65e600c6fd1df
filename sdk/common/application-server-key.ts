/** Converts base64 or base64url, padded or not, to base64url without padding. */
export function normalizeKey(key: string): string {
  return key.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

export function decodeKey(key: string): Uint8Array<ArrayBuffer> {
  const base64 = key.replaceAll('-', '+').replaceAll('_', '/');
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

export function encodeKey(bytes: ArrayBuffer): string {
  return normalizeKey(btoa(String.fromCharCode(...new Uint8Array(bytes))));
}
