import * as z from 'zod/mini';
import { object, wrong } from './fields.ts';

/** Body of track. */
export const eventSchema = object({
  type: z.enum(['shown', 'clicked'], { error: wrong('must be "shown" or "clicked"') }),
});

/** Query of track: the tally that counts the event. Messages of small audiences have none. */
export const tallySchema = z.pipe(
  z._default(z.string().check(z.regex(/^\d{1,4}$/)), '0'),
  z.transform(Number),
);

export type EventType = z.infer<typeof eventSchema>['type'];
