import type { NotificationContent } from '../../../contract/schemas/notification.ts';
import { emptyAction, emptySendForm, type SendForm } from './send-form.ts';

/** The form of a notification that was sent. Its user ids are not stored: the form is for everyone. */
export function formOf(content: NotificationContent): SendForm {
  const { ttl, appBadge, timestamp, data, actions = [], worker = true } = content;
  const { title, body, url, icon, image, badge, urgency, topic, tag, lang, dir } = content;
  const { renotify = false, requireInteraction = false, silent = false } = content;
  const texts = { title, body, url, icon, image, badge, urgency, topic, tag, lang, dir };
  return {
    ...emptySendForm,
    ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text ?? ''])),
    ttl: String(ttl ?? ''),
    appBadge: String(appBadge ?? ''),
    timestamp: timestamp === undefined ? '' : localTime(new Date(timestamp)),
    data: data === undefined ? '' : JSON.stringify(data, null, 2),
    actions: actions.map((action) => ({ ...emptyAction, ...action }) as typeof emptyAction),
    renotify,
    requireInteraction,
    silent,
    worker,
  };
}

/** As `<input type="datetime-local">` has it, to the minute. */
function localTime(time: Date): string {
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
