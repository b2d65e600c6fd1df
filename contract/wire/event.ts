import * as z from 'zod/mini';
import { object, wrong } from './fields.ts';

/** Body of track. */
export const eventSchema = object({
  type: z.enum(['shown', 'clicked'], { error: wrong('must be "shown" or "clicked"') }),
});

/** The query `tally` of track: the counter of the event. Messages of small audiences have none. */
export const eventCounterSchema = z.pipe(
  z._default(z.string().check(z.regex(/^\d{1,4}$/)), '0'),
  z.transform(Number),
);

export type EventType = z.infer<typeof eventSchema>['type'];
