import * as z from 'zod/mini';
import { shapeOf } from './content.ts';
import { channels } from './fields.ts';
import { audienceFields } from './send-fields.ts';

const { userIds: _, recipients: __, channels: ___, ...others } = audienceFields;

/**
 * Conditions on the subscriptions of an audience: those that a request gives all hold. They travel as one value,
 * from the request to the filter of the database. Code that does not know one of them refuses to deliver.
 */
export const conditionsSchema = z.strictObject({
  channels: z.optional(channels(1)),
  ...shapeOf(others),
});
export type Conditions = z.infer<typeof conditionsSchema>;

/** The conditions among the fields of a request. */
export function conditionsOf(request: Conditions): Conditions {
  const names = Object.keys(conditionsSchema.shape) as (keyof Conditions)[];
  const given = names.filter((name) => request[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, request[name]]));
}

export function hasConditions(conditions: Conditions): boolean {
  return Object.keys(conditions).length > 0;
}
