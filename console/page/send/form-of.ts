import type {
  NotificationContent,
  NotificationResult,
} from '../../../contract/schemas/notification.ts';
import { emptyAction, emptySendForm, flagNames, type SendForm, textNames } from './send-form.ts';

/**
 * The form of a notification that was sent. User ids are not stored: if it had some, the form asks for them, so that
 * a notification to some users never becomes one to everyone.
 */
export function formOf({
  audience,
  ...content
}: NotificationContent & Pick<NotificationResult, 'audience'>): SendForm {
  const { users, channels = [], seenWithinDays = '' } = audience === 'everyone' ? {} : audience;
  const { ttl, appBadge, timestamp, data, actions = [], worker = true } = content;
  return {
    ...emptySendForm,
    ...Object.fromEntries(textNames.map((name) => [name, content[name] ?? ''])),
    ...Object.fromEntries(flagNames.map((name) => [name, content[name] ?? false])),
    ttl: String(ttl ?? ''),
    appBadge: String(appBadge ?? ''),
    timestamp: timestamp === undefined ? '' : localTime(new Date(timestamp)),
    data: data === undefined ? '' : JSON.stringify(data, null, 2),
    actions: actions.map((action) => ({ ...emptyAction, ...action }) as typeof emptyAction),
    worker,
    to: users === undefined ? 'everyone' : 'users',
    channels: channels.join('\n'),
    seenWithinDays: String(seenWithinDays),
  };
}

/** As `<input type="datetime-local">` has it, to the minute. */
function localTime(time: Date): string {
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
