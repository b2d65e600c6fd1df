import * as z from 'zod/mini';
import { wrong } from '../wire/fields.ts';

/**
 * Base64 (RFC 4648) with what functions and browsers both have: `Buffer` is Node's alone.
 */

const pattern = /^[A-Za-z0-9+/_-]*={0,2}$/;

/**
 * Decodes base64 or base64url, padded or not.
 * @returns undefined where the text is neither.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!pattern.test(text)) return undefined;
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Encodes as base64url without padding. */
export function encodeBase64url(bytes: Uint8Array): string {
  const base64 = btoa(String.fromCharCode(...bytes));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** The schema of bytes in base64 or base64url, padded or not. */
export function bytes(isRight: (decoded: Uint8Array) => boolean, message: string) {
  const decode = z.transform((value: string, context) => {
    const decoded = decodeBase64(value);
    if (decoded !== undefined && isRight(decoded)) return decoded;
    context.issues.push({ code: 'custom', message, input: value });
    return z.NEVER;
  });
  return z.pipe(z.string({ error: wrong(message) }), decode);
}
