import type { PushMessage } from '../../contract/wire/message.ts';
import type { DisplayedMembers, DisplayedName } from '../../contract/wire/send-fields.ts';
import { displayedMembers, maxEventWindowSeconds } from '../../contract/wire/worker-values.ts';

/** Data stored with a notification, for its clicks and its beacons. */
export interface NotificationData {
  /** Absolute URL, opened on click. */
  readonly url: string;
  /** Absolute URLs by action, opened on a click of its button. */
  readonly urls?: Readonly<Record<string, string>>;
  /** Version of the message format. Only Carillon's notifications have it. */
  readonly carillon?: number;
  readonly id?: string | undefined;
  /** URL for its beacons. */
  readonly events?: string | undefined;
  /** The sender's own, for the site's pages. */
  readonly data?: unknown;
}

/** A button. */
interface Action {
  readonly action: string;
  readonly title: string;
  readonly icon?: string | undefined;
}

/** The arguments of `showNotification()`, the app's badge, and what else to do. */
export interface ShownNotification {
  readonly title: string;
  readonly options: Omit<DisplayedMembers, 'title'> & {
    readonly actions: readonly Action[];
    readonly data: NotificationData;
  };
  /** Number for the icon of the site's app. */
  readonly appBadge: number | undefined;
  /** The time over which browsers spread their `shown` events. */
  readonly eventWindowMs: number;
  /** Whether it is reported as shown. */
  readonly reportsShown: boolean;
  /** Whether a page that has the focus gets it, in place of the visitor. */
  readonly isForPage: boolean;
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
  const { notification = message, app_badge } = members<keyof PushMessage>(message);
  const content = members<keyof PushMessage['notification']>(notification);
  const { carillon, id, events, window, report, whenFocused, data, ...unread } = members<
    keyof PushMessage['notification']['data']
  >(content.data);
  // A member that is not read above is a type error.
  unread satisfies Record<keyof typeof unread, never>;
  const isCarillon = isCarillonMessage(message);
  // A send takes absolute URLs only: without one, its message has `/`. The root of the host may be another site.
  const urlOf = (link: unknown) => webUrl(isCarillon && link === '/' ? scope : link, scope);
  const url = urlOf(linkOf({ ...members<string>(message), ...content }));
  // Names of OneSignal.
  const { alert, o } = members<'alert' | 'o'>(content);
  const buttons = content.actions ?? o;
  const actions = (Array.isArray(buttons) ? buttons : [])
    .map(readButton)
    .filter(({ action, title }) => text(action) && text(title));
  const {
    title = new URL(scope).hostname,
    // A push service may deliver a message twice. With the same tag it is shown once.
    tag = isCarillon ? text(id) : undefined,
    renotify,
    body = text(alert),
    ...shown
  } = accepted(content);
  return {
    title,
    options: {
      ...shown,
      body,
      tag,
      // Browsers would reject it without a tag.
      renotify: renotify && tag !== undefined,
      actions: actions.map(({ action, title, icon }) => ({
        action: text(action)!,
        title: text(title)!,
        icon: text(icon),
      })),
      data: {
        url,
        urls: Object.fromEntries(
          actions.map(({ action, navigate }) => [action, urlOf(navigate ?? url)]),
        ),
        ...(isCarillon && { carillon: Number(carillon), id: text(id), events: text(events), data }),
      },
    },
    appBadge: number(app_badge),
    eventWindowMs: windowMs(window),
    reportsShown: report !== 'clicked',
    isForPage: isCarillon && whenFocused === 'page',
  };
}

/** OneSignal's buttons have short names. */
function readButton(button: unknown): Unchecked<'action' | 'title' | 'navigate' | 'icon'> {
  const { i: action, n: title, u: navigate, p: icon, ...others } = members<string>(button);
  return { action, title, navigate, icon, ...others };
}

/** Where senders write what a click opens: OneSignal, Perfecty, Firebase, Pusher Beams, and most tutorials. */
const linkNames = 'navigate url launchURL click_action deep_link url_to_open link u'.split(' ');

/** What a click on the notification of this message, or of this data, opens. */
function linkOf(message: Unchecked<string>): string | undefined {
  const { custom, extra, fcmOptions, data } = message;
  const all = Object.assign({}, data, fcmOptions, extra, custom, message);
  return linkNames.map((name) => text(all[name])).find(text);
}

/** The absolute URL that a click on a notification, or on its button, opens. */
export function urlOfClick(data: unknown, action: string, scope: string): string {
  const { urls, ...others } = members<string>(data);
  return webUrl(members<string>(urls)[action] ?? linkOf(others), scope);
}

function members<Names extends PropertyKey>(value: unknown): Unchecked<Names> {
  return Object(value);
}

/** Without the values that `showNotification()` would reject. */
function accepted(content: Unchecked<DisplayedName>): Partial<DisplayedMembers> {
  const entries = Object.entries(displayedMembers).map(([name, accepted]) => {
    const value = content[name as DisplayedName];
    const isAccepted =
      typeof accepted === 'string'
        ? typeof value === accepted && value !== ''
        : accepted.includes(value as string);
    return [name, isAccepted ? value : undefined];
  });
  return Object.fromEntries(entries);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function windowMs(seconds: unknown): number {
  return Math.min(Math.max(number(seconds) ?? 0, 0), maxEventWindowSeconds) * 1000;
}

function webUrl(value: unknown, scope: string): string {
  try {
    const { href } = new URL(text(value) ?? '', scope);
    if (/^https?:/.test(href)) return href;
  } catch {}
  return scope;
}
