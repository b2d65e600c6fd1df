import type { NotificationContent } from '../../contract/schemas/notification.ts';
import type { StoredContent } from './items.ts';

export function toStoredContent({ data, ...content }: NotificationContent): StoredContent {
  return data === undefined ? content : { ...content, data: JSON.stringify(data) };
}

export function fromStoredContent({ data, ...content }: StoredContent): NotificationContent {
  return data === undefined ? content : { ...content, data: JSON.parse(data) };
}
