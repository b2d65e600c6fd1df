import * as z from 'zod/mini';
import { count, object, userId } from './fields.ts';

/** Query of the routes for one user. */
export const userSchema = object({ userId });

export const userSubscriptionsSchema = z.object({ userId, subscriptions: count });
export type UserSubscriptions = z.infer<typeof userSubscriptionsSchema>;

export const removedUserSchema = z.object({ removed: count });
export type RemovedUser = z.infer<typeof removedUserSchema>;
