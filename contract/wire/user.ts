import * as z from 'zod/mini';
import { count, object, userId, wrong } from './fields.ts';
import { deviceIdPattern } from './formats.ts';
import { limits } from './limits.ts';

/** Query of the route that reads a user. */
export const userSchema = object({ userId });

const deviceRule = 'must be the "id" of a device: 43 characters of base64url';

/** Query of the route that removes a user, or one device. */
export const removeUserSchema = z
  .looseObject({
    userId,
    device: z.optional(
      z.string({ error: wrong(deviceRule) }).check(z.regex(deviceIdPattern, deviceRule)),
    ),
  })
  .check(({ value, issues }) => {
    // A mistyped `device` would otherwise remove all devices.
    const keys = Object.keys(value).filter((name) => !['userId', 'device'].includes(name));
    if (keys.length > 0) issues.push({ code: 'unrecognized_keys', keys, input: value });
  });

/** A subscription of a user. */
const deviceSchema = z.object({
  id: z.string().check(z.regex(deviceIdPattern)),
  pushService: z.string(),
  locale: z.optional(z.string()),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

export const userSubscriptionsSchema = z.object({
  userId,
  subscriptions: count,
  devices: z.array(deviceSchema).check(z.maxLength(limits.devices)),
});
export type UserSubscriptions = z.infer<typeof userSubscriptionsSchema>;

export const removedUserSchema = z.object({ removed: count });
export type RemovedUser = z.infer<typeof removedUserSchema>;
