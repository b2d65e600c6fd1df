import * as z from 'zod/mini';
import { count } from './fields.ts';

/** Outcomes of a notification's pushes. `attempted = delivered + removed + failed`. */
export const deliveryCountsSchema = z.object({
  attempted: count,
  /** The push service accepted the message. */
  delivered: count,
  /** The push service reported the subscription as gone; it was deleted. */
  removed: count,
  /** Everything else. */
  failed: count,
});
export type DeliveryCounts = z.infer<typeof deliveryCountsSchema>;
