import { Badge } from '@mantine/core';
import { deliveryVerdict, hasNoSubscriber } from '../../../contract/delivery-verdict.ts';
import type { NotificationResult } from '../../../contract/schemas/notification.ts';
import { toneColors } from './figures.ts';

/** The status of a notification, in a word; bad news in its colour. */
export function Status({ notification }: { readonly notification: NotificationResult }) {
  const { tone, label } = deliveryVerdict(notification);
  const isBad = tone === 'bad' || tone === 'warning';
  const text = hasNoSubscriber(notification) ? 'nobody' : notification.status;
  return (
    <Badge
      tt="none"
      variant="filled"
      color={isBad ? toneColors[tone] : tone === 'good' ? toneColors.good : toneColors.neutral}
      title={label}
      miw={76}
    >
      {isBad && notification.status === 'sent' ? 'failed' : text}
    </Badge>
  );
}
