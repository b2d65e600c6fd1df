import * as z from 'zod/mini';
import { channels, userId } from './fields.ts';

/**
 * What a visitor chooses of a subscription. It travels as one value from the request to the item: only
 * `lambdas/store/subscription-keys.ts` takes it apart, where a member that it does not know is a type error.
 */
export const choiceShape = { userId: z.optional(userId), channels: z.optional(channels(0)) };

const choiceSchema = z.object(choiceShape);
export type Choice = z.infer<typeof choiceSchema>;
