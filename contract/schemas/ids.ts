import * as z from 'zod/mini';
import { idempotencyKeyPattern, projectIdPattern } from '../formats.ts';
import { limits } from '../limits.ts';

export const projectIdSchema = z.string().check(z.regex(projectIdPattern));
export const notificationIdSchema = z.uuid();

/** Header of send: the caller's name for one request and its repetitions. */
export const idempotencyKeySchema = z.optional(
  z
    .string()
    .check(
      z.regex(
        idempotencyKeyPattern,
        `must be 1 to ${limits.idempotencyKeyLength} printable ASCII characters without spaces`,
      ),
    ),
);
