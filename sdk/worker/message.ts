import { maxEventWindow, type PushMessage } from '../../contract/message.ts';

/** Data stored with a notification, for its click and its beacons. */
export interface NotificationData {
  /** Absolute URL, opened on click. */
  readonly url: string;
  /** Version of the message format. Only Carillon's notifications have it. */
  readonly carillon?: number;
  readonly id?: string | undefined;
  /** URL for its beacons. */
  readonly events?: string | undefined;
}

/** The arguments of `showNotification()`, and when to report the event `shown`. */
export interface ShownNotification {
  readonly title: string;
  readonly options: {
    readonly body: string | undefined;
    readonly icon: string | undefined;
    readonly image: string | undefined;
    readonly badge: string | undefined;
    readonly tag: string | undefined;
    readonly data: NotificationData;
  };
  /** The time over which browsers spread their `shown` events. */
  readonly eventWindowMs: number;
}

type Unchecked<Members extends PropertyKey> = { readonly [Name in Members]?: unknown };

/** Parses the text of a push for {@link readMessage}. Text that is not JSON becomes the body. */
export function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { body: text };
  }
}

/** Whether a message is from Carillon, in any version of the format. */
export function isCarillonMessage(message: unknown): boolean {
  const { notification } = members<'notification'>(message);
  return isCarillonData(members<'data'>(notification).data);
}

/** Whether this is the data of a Carillon notification. */
export function isCarillonData(data: unknown): data is NotificationData {
  return typeof members<'carillon'>(data).carillon === 'number';
}

/**
 * Reads what can be shown of a message: every member of Carillon's, and members with the usual names of
 * another sender's. Returns a notification with a title for any input; never throws.
 * @param scope of the service worker: base of relative URLs, and opened on click if there is no URL.
 */
export function readMessage(message: unknown, scope: string): ShownNotification {
  const { notification = message } = members<'notification'>(message);
  const { title, body, icon, image, badge, navigate, data } =
    members<keyof PushMessage['notification']>(notification);
  const url = webUrl(navigate, scope);
  const { carillon, id, events, window } = members<keyof PushMessage['notification']['data']>(data);
  const isCarillon = isCarillonMessage(message);
  return {
    title: text(title) ?? new URL(scope).hostname,
    options: {
      body: text(body),
      icon: text(icon),
      image: text(image),
      badge: text(badge),
      // A push service may deliver a message twice. With the same tag it is shown once.
      tag: isCarillon ? text(id) : undefined,
      data: isCarillon
        ? { url, carillon: Number(carillon), id: text(id), events: text(events) }
        : { url },
    },
    eventWindowMs: windowMs(window),
  };
}

function members<Names extends PropertyKey>(value: unknown): Unchecked<Names> {
  return typeof value === 'object' && value !== null ? value : {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function windowMs(seconds: unknown): number {
  if (!Number.isFinite(seconds)) return 0;
  return Math.min(Math.max(Number(seconds), 0), maxEventWindow) * 1000;
}

function webUrl(value: unknown, scope: string): string {
  try {
    const url = new URL(text(value) ?? '', scope);
    return url.protocol.startsWith('http') ? url.href : scope;
  } catch {
    return scope;
  }
}
