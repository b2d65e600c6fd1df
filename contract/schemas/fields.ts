import * as z from 'zod/mini';
import { decodeBase64 } from '../base64url.ts';
import { channelPattern } from '../formats.ts';
import { limits } from '../limits.ts';
import { withAll } from '../placeholders.ts';

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

export const notWebUrl = 'must be an absolute http or https URL';

export function isWebUrl(value: string): boolean {
  return /^https?:\/\/[^\s\\]+$/i.test(value) && URL.canParse(value);
}

export const webUrl = text(1, limits.urlLength).check(z.refine(isWebUrl, notWebUrl));

/** A URL that may have placeholders, with spaces inside their braces. */
export const webUrlTemplate = text(1, limits.urlLength).check(
  z.refine((value) => isWebUrl(withAll(value, '_')), notWebUrl),
);

export const userId = text(1, limits.userIdLength);

/** @param of unit, such as ` of seconds`. */
export function wholeNumber(min: number, max: number, of = '') {
  const message = `must be a whole number${of} from ${min} to ${max}`;
  return z.int(message).check(z.gte(min, message), z.lte(max, message));
}

const channelRule = `must be 1 to ${limits.channelNameLength} lowercase letters, digits or hyphens`;
const channel = z.string({ error: channelRule }).check(z.regex(channelPattern, channelRule));

/** Names of channels. A name that is given twice counts once. @param min how many there are at least. */
export function channels(min: 0 | 1) {
  return z.pipe(
    z.array(channel, { error: 'must be an array of channels' }).check(
      z.minLength(min, 'must name at least one channel; leave the field out for all subscriptions'),
      z.refine(
        (names) => new Set(names).size <= limits.channels,
        `must name at most ${limits.channels} channels`,
      ),
    ),
    z.transform((names): readonly string[] => [...new Set(names)]),
  );
}

export function object<Shape extends z.core.$ZodShape>(shape: Shape) {
  return z.object(shape, { error: wrong('must be an object') });
}

/** A count of things that may be 0. */
export const count = z.int().check(z.nonnegative());
