import * as z from 'zod/mini';
import { decodeBase64 } from '../base64url.ts';
import { limits } from '../limits.ts';

/** Fields that several requests have. */

/** The message for a value of the wrong type, or for a missing one. */
export const wrong =
  (message: string) =>
  ({ input }: { input?: unknown }) =>
    input === undefined ? 'is required' : message;

/** Text of `min` to `max` characters without lone surrogates, which UTF-8 cannot encode. */
export function text(min: number, max: number) {
  const message = `must be text of ${min === 0 ? 'at most' : `${min} to`} ${max} characters`;
  return z.string({ error: wrong(message) }).check(
    z.minLength(min, message),
    z.maxLength(max, message),
    z.refine((value) => value.isWellFormed(), 'must be well-formed Unicode'),
  );
}

/** Bytes in base64 or base64url, padded or not. */
export function bytes(isRight: (decoded: Uint8Array) => boolean, message: string) {
  const decode = z.transform((value: string, context) => {
    const decoded = decodeBase64(value);
    if (decoded !== undefined && isRight(decoded)) return decoded;
    context.issues.push({ code: 'custom', message, input: value });
    return z.NEVER;
  });
  return z.pipe(z.string({ error: wrong(message) }), decode);
}

export const webUrl = text(1, limits.urlLength).check(
  z.refine(
    (value) => /^https?:\/\/[^\s\\]+$/i.test(value) && URL.canParse(value),
    'must be an absolute http or https URL',
  ),
);

export const userId = text(1, limits.userIdLength);

export function object<Shape extends z.core.$ZodShape>(shape: Shape) {
  return z.object(shape, { error: wrong('must be an object') });
}

/** A count of things that may be 0. */
export const count = z.int().check(z.nonnegative());
