import { countOf } from '../../../contract/count-text.ts';
import type { AudienceCounts } from '../../../contract/schemas/project.ts';
import { type FieldName, namesIn } from './fields.ts';
import { recipientsOf } from './recipients-table.ts';
import { linesOf, type SendForm } from './send-form.ts';

/**
 * How many a notification is for, as far as it is known: `1,200 subscribers`, `about 300 subscribers`. Several
 * conditions together are known as a maximum only.
 */
export function audienceSizeText(
  form: SendForm,
  subscribers: number | undefined,
  sample: AudienceCounts | undefined,
): string {
  const given = namesIn('Only some of them').filter((name) => String(form[name]).trim() !== '');
  const hasConditions = given.length > 0;
  if (form.to !== 'everyone') {
    const users = form.to === 'userIds' ? linesOf(form.userIds) : recipientsOf(form.recipients);
    return countOf(users.length, 'user id');
  }
  if (subscribers === undefined) return hasConditions ? 'a part of the subscribers' : 'everyone';
  if (!hasConditions) return countOf(subscribers, 'subscriber');
  const parts = given.map((name) => sample && counted[name]?.(String(form[name]), sample));
  const whole = sample?.subscribers ?? 0;
  const part =
    whole === 0 ? 1 : Math.min(1, Math.min(...parts.map((found = whole) => found)) / whole);
  const isMaximum =
    parts.length > 1 || linesOf(form.channels).length > 1 || parts.includes(undefined);
  const isWhole = whole >= subscribers && !isMaximum;
  const about = isMaximum ? 'at most about' : 'about';
  return `${isWhole ? '' : `${about} `}${countOf(Math.round(part * subscribers), 'subscriber')}`;
}

/** How many of the sample meet a condition, as its control has it. Of the others it says nothing. */
const counted: Readonly<
  Partial<Record<FieldName, (text: string, sample: AudienceCounts) => number | undefined>>
> = {
  channels: (text, { channels }) => sumOf(linesOf(text).map((name) => channels[name] ?? 0)),
  seenWithinDays: (days, { seenWithinDays }) => seenWithinDays[days as '7'],
};

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
