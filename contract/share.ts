import * as z from 'zod/mini';
import { projectIdSchema } from './schemas.ts';

/** The event by which send invokes deliver: one share of an audience. */
export const deliverEventSchema = z.strictObject({
  projectId: projectIdSchema,
});

export type DeliverEvent = z.infer<typeof deliverEventSchema>;
