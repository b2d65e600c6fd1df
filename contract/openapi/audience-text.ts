import { type Conditions, conditionsOf } from '../conditions.ts';
import { countOf } from '../count-text.ts';
import type { NotificationResult } from '../schemas/notification.ts';
import { fieldTexts } from './field-texts.ts';

type Audience = NotificationResult['audience'];

/** `2 user ids, with news or sales, seen within 30 days`. */
export function audienceText({ audience }: { readonly audience: Audience }): string {
  if (audience === 'everyone') return audience;
  const { users } = audience;
  // In one order: the database keeps none.
  const selections = Object.entries(conditionsOf(audience)).map(([name, value]) =>
    fieldTexts[name as keyof Conditions].selected(value as never),
  );
  const whom = users === undefined ? 'everyone' : countOf(users, 'user id');
  return [whom, ...selections].join(', ');
}
