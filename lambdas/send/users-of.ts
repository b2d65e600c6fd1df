import { namesIn, type Values } from '../../contract/placeholders.ts';
import type { ParsedSendRequest } from '../../contract/schemas/notification.ts';
import type { Users } from './divide.ts';

/** The users that a request is for, with the values that its placeholders use; undefined for a broadcast. */
export function usersOf({ userIds, recipients, ...content }: ParsedSendRequest): Users | undefined {
  if (recipients === undefined) return userIds && { userIds };
  const names = namesIn(content);
  const used = ({ values = {} }: (typeof recipients)[number]) =>
    Object.fromEntries(names.map((name) => [name, values[name]])) as Values;
  return {
    userIds: recipients.map(({ userId }) => userId),
    values: names.length === 0 ? undefined : recipients.map(used),
  };
}
