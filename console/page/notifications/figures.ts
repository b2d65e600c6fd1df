import type { DeliveryVerdict } from '../../../contract/delivery-verdict.ts';
import type { NotificationResult } from '../../../contract/schemas/notification.ts';
import { rateText } from '../format.ts';

type Counts = Pick<NotificationResult, 'attempted' | 'delivered' | 'shown' | 'clicked'>;

/** The delivered part of the attempted; `–` for nothing. */
export function deliveredRate({ attempted, delivered }: Counts): string {
  return rateText(delivered, attempted) || '–';
}

/** The clicked part of the shown; `–` for nothing. */
export function clickRate({ shown, clicked }: Counts): string {
  return rateText(clicked, shown) || '–';
}

export const toneColors: Readonly<Record<DeliveryVerdict['tone'], string>> = {
  good: 'green.9',
  neutral: 'gray.8',
  warning: 'orange.9',
  bad: 'red.9',
};
