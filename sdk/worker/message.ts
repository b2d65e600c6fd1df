import type { PushMessage } from '../../contract/message.ts';

/** What a notification keeps for its click and its beacons. */
export interface NotificationData {
  /** Opened on click; absolute. */
  readonly url: string;
  /** Present in Carillon's notifications only: the version of the message's format. */
  readonly carillon?: number;
  readonly id?: string | undefined;
  /** Where its beacons go. */
  readonly events?: string | undefined;
}

/** The arguments of `showNotification()`. */
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
}

type Unchecked<Members extends PropertyKey> = { readonly [Name in Members]?: unknown };

/** Reads a push's text as what {@link readMessage} takes. What is no JSON, a person can still read. */
export function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { body: text };
  }
}

/** Whether a message is one of Carillon's, of whatever version of its format. */
export function isCarillonMessage(message: unknown): boolean {
  const { notification } = members<'notification'>(message);
  return isCarillonData(members<'data'>(notification).data);
}

/** Whether the data of a notification say that it is one of Carillon's. */
export function isCarillonData(data: unknown): data is NotificationData {
  return typeof members<'carillon'>(data).carillon === 'number';
}

/**
 * Finds what can be shown of a push: of Carillon's message all, of another's the members with the
 * usual names. Whatever comes, something comes of it, and nothing is thrown.
 * @param scope of the service worker: what URLs are relative to, and what a click opens otherwise.
 */
export function readMessage(message: unknown, scope: string): ShownNotification {
  const { notification = message } = members<'notification'>(message);
  const { title, body, icon, image, badge, navigate, data } =
    members<keyof PushMessage['notification']>(notification);
  const url = webUrl(navigate, scope);
  const { carillon, id, events } = members<keyof NotificationData>(data);
  const isOurs = isCarillonMessage(message);
  return {
    title: text(title) ?? new URL(scope).hostname,
    options: {
      body: text(body),
      icon: text(icon),
      image: text(image),
      badge: text(badge),
      // Delivered twice, as a push service may, a notification is still shown once.
      tag: isOurs ? text(id) : undefined,
      data: isOurs
        ? { url, carillon: Number(carillon), id: text(id), events: text(events) }
        : { url },
    },
  };
}

function members<Names extends PropertyKey>(value: unknown): Unchecked<Names> {
  return typeof value === 'object' && value !== null ? value : {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function webUrl(value: unknown, scope: string): string {
  try {
    const url = new URL(text(value) ?? '', scope);
    return url.protocol.startsWith('http') ? url.href : scope;
  } catch {
    return scope;
  }
}
