import * as z from 'zod/mini';
import { bytes, object } from './fields.ts';
import { limits } from './limits.ts';

const range = `must be a whole number from 1 to ${limits.largestPage}`;

/** Query of the list. */
export const notificationListQuerySchema = object({
  limit: z.pipe(
    z._default(z.string().check(z.regex(/^[1-9]\d{0,2}$/, range)), String(limits.page)),
    z.pipe(z.transform(Number), z.number().check(z.lte(limits.largestPage, range))),
  ),
  /** 16 bytes: the id that the page starts with. */
  cursor: z.optional(
    bytes(({ length }) => length === 16, 'must be the "nextCursor" of an earlier response'),
  ),
});
export type NotificationListQuery = z.infer<typeof notificationListQuerySchema>;
