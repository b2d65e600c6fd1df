import * as z from 'zod/mini';
import {
  choiceFields,
  count,
  type DeviceMember,
  deviceMembers,
  object,
  userId,
  wrong,
} from './fields.ts';
import { deviceIdPattern } from './formats.ts';
import { limits } from './limits.ts';
import { unsubscribeSchema } from './subscription.ts';

const deviceRule = 'must be the "id" of a device: 43 characters of base64url';

/** Whose data: of a user, of a device, of a device if it is the user's, or of an endpoint. */
const personShape = {
  userId: z.optional(userId),
  device: z.optional(
    z.string({ error: wrong(deviceRule) }).check(z.regex(deviceIdPattern, deviceRule)),
  ),
  endpoint: z.optional(unsubscribeSchema.shape.endpoint),
};

const namesPerson = z.refine<{ readonly [Name in keyof typeof personShape]?: unknown }>(
  ({ userId, device, endpoint }) => (endpoint ?? device ?? userId) !== undefined,
  { error: 'is required, or a "device" or an "endpoint"', path: ['userId'] },
);
const namesOne = z.refine<{ readonly [Name in keyof typeof personShape]?: unknown }>(
  ({ userId, device, endpoint }) => endpoint === undefined || (userId ?? device) === undefined,
  { error: 'must be given alone', path: ['endpoint'] },
);

/** Query of the route that reads a user. */
export const userSchema = object(personShape).check(namesPerson, namesOne);

/** Query of the route that removes a user, or one device. */
export const removeUserSchema = z
  .looseObject(personShape)
  .check(namesPerson, namesOne, ({ value, issues }) => {
    // A mistyped `device` would otherwise remove all devices.
    const keys = Object.keys(value).filter((name) => !(name in personShape));
    if (keys.length > 0) issues.push({ code: 'unrecognized_keys', keys, input: value });
  });

type DeviceShape = {
  [Name in DeviceMember]: z.ZodMiniOptional<(typeof choiceFields)[Name]['ofDevice']>;
};

/** A subscription of a user. */
const deviceSchema = z.object({
  id: z.string().check(z.regex(deviceIdPattern)),
  pushService: z.string(),
  ...(Object.fromEntries(
    deviceMembers.map((name) => [name, z.optional(choiceFields[name].ofDevice)]),
  ) as DeviceShape),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

export const userSubscriptionsSchema = z.object({
  userId: z.nullable(userId),
  subscriptions: count,
  devices: z.array(deviceSchema).check(z.maxLength(limits.devices)),
});
export type UserSubscriptions = z.infer<typeof userSubscriptionsSchema>;

export const removedUserSchema = z.object({ removed: count });
export type RemovedUser = z.infer<typeof removedUserSchema>;
