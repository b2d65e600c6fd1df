import type { NotificationResult } from '../../../contract/schemas/notification.ts';
import { countOf } from '../format.ts';

export type Audience = NotificationResult['audience'];

/** `2 user ids, with news or sales, seen within 30 days`. */
export function audienceText({ audience }: { readonly audience: Audience }): string {
  if (audience === 'everyone') return audience;
  const { users, channels, seenWithinDays } = audience;
  return [
    users === undefined ? 'everyone' : countOf(users, 'user id'),
    ...(channels === undefined ? [] : [`with ${channels.join(' or ')}`]),
    ...(seenWithinDays === undefined ? [] : [`seen within ${countOf(seenWithinDays, 'day')}`]),
  ].join(', ');
}
