import type { DeliveryVerdict } from '../../../contract/delivery-verdict.ts';
import type { NotificationResult } from '../../../contract/schemas/notification.ts';
import { rateText } from '../format.ts';

type Counts = Pick<
  NotificationResult,
  'attempted' | 'delivered' | 'shown' | 'clicked' | 'shownSample'
>;

/** The delivered part of the attempted; `–` for nothing. */
export function deliveredRate({ attempted, delivered }: Counts): string {
  return rateText(delivered, attempted) || '–';
}

/** The clicked part of the shown; `–` for nothing. */
export function clickRate(counts: Counts): string {
  return estimated(counts, rateText(counts.clicked, counts.shown)) || '–';
}

/** A figure that follows from `shown`: `about 61,230`, if only a sample of the browsers reported it. */
export function estimated(
  { shownSample }: Pick<NotificationResult, 'shownSample'>,
  figure: string,
): string {
  return shownSample === undefined || figure === '' ? figure : `about ${figure}`;
}

export const toneColors: Readonly<Record<DeliveryVerdict['tone'], string>> = {
  good: 'green.9',
  neutral: 'gray.8',
  warning: '#b03c0a',
  bad: '#c92a2a',
};
