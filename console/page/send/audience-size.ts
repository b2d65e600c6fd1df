import type { AudienceCounts } from '../../../contract/schemas/project.ts';
import { countOf } from '../format.ts';
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
  const channels = linesOf(form.channels);
  const days = form.seenWithinDays;
  const hasConditions = channels.length > 0 || days !== '';
  if (form.to !== 'everyone') {
    const users = form.to === 'userIds' ? linesOf(form.userIds) : recipientsOf(form.recipients);
    return countOf(users.length, 'user id');
  }
  if (subscribers === undefined) return hasConditions ? 'a part of the subscribers' : 'everyone';
  if (!hasConditions) return countOf(subscribers, 'subscriber');
  const counts: Readonly<Record<string, number>> = sample?.channels ?? {};
  const parts = [
    ...(channels.length > 0 ? [sumOf(channels.map((name) => counts[name] ?? 0))] : []),
    ...(days === '' ? [] : [sample?.seenWithinDays[days as '7'] ?? Number.POSITIVE_INFINITY]),
  ];
  const whole = sample?.subscribers ?? 0;
  const part = whole === 0 ? 1 : Math.min(1, Math.min(...parts) / whole);
  const isWhole = whole >= subscribers && parts.length === 1 && channels.length <= 1;
  const about = channels.length + (days === '' ? 0 : 1) > 1 ? 'at most about' : 'about';
  return `${isWhole ? '' : `${about} `}${countOf(Math.round(part * subscribers), 'subscriber')}`;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
