import type { NotificationContent } from './schemas/notification.ts';

/**
 * The push message that the send function encrypts and the service worker reads: version 1. It is
 * also a declarative push message (W3C Push API), which a browser can show without a service worker.
 */
export interface PushMessage {
  /** Marks a declarative push message; the number is that of the Web Push RFC. */
  readonly web_push: 8030;
  readonly notification: {
    readonly title: string;
    readonly body?: string | undefined;
    /**
     * Opened on click, relative to the service worker's scope. Declarative messages require it.
     * Default: `/`, the site's first page.
     */
    readonly navigate: string;
    readonly icon?: string | undefined;
    readonly image?: string | undefined;
    readonly badge?: string | undefined;
    readonly tag?: string | undefined;
    readonly renotify?: boolean | undefined;
    readonly requireInteraction?: boolean | undefined;
    readonly silent?: boolean | undefined;
    readonly actions?: readonly MessageAction[] | undefined;
    readonly lang?: string | undefined;
    readonly dir?: 'auto' | 'ltr' | 'rtl' | undefined;
    /** Epoch ms. */
    readonly timestamp?: number | undefined;
    readonly data: {
      /** Version of this format. Messages of other senders do not have it. */
      readonly carillon: 1;
      readonly id: string;
      /** URL to which the service worker reports events. */
      readonly events: string;
      /** Seconds over which browsers spread their `shown` events, at most 20. Default: 0. */
      readonly window?: number;
      /** The sender's own. */
      readonly data?: Readonly<Record<string, unknown>> | undefined;
    };
    /** As the outer ones: the first Safari releases with declarative messages read them here. */
    readonly app_badge?: number | undefined;
    readonly mutable?: true | undefined;
  };
  /** Number on the icon of the site's app; 0 removes it. */
  readonly app_badge?: number | undefined;
  /** Lets the service worker handle the message before the browser shows it. */
  readonly mutable?: true | undefined;
}

type Notification = PushMessage['notification'];

/** A button. */
interface MessageAction {
  readonly action: string;
  readonly title: string;
  /** Opened when the button is clicked. Declarative messages require it. */
  readonly navigate: string;
  readonly icon?: string | undefined;
}

/** Chromium and Firefox stop a service worker that has nothing to do after 30 s. */
export const maxEventWindowSeconds = 20;

/**
 * @param eventsUrl absolute address of the notification's track route.
 * @param eventWindowSeconds over which browsers spread their `shown` events, at most
 *   {@link maxEventWindowSeconds}.
 */
export function pushMessage(
  id: string,
  content: NotificationContent,
  eventsUrl: string,
  eventWindowSeconds = 0,
) {
  const {
    ttl,
    urgency,
    topic,
    url = '/',
    actions,
    timestamp,
    data,
    appBadge,
    worker,
    ...shown
  } = content;
  const window = eventWindowSeconds > 0 && { window: eventWindowSeconds };
  const common = { app_badge: appBadge, mutable: worker === false ? undefined : (true as const) };
  return {
    web_push: 8030,
    notification: {
      // A field of send that browsers are not to get is a type error until it is listed above.
      ...(shown satisfies Record<Exclude<keyof typeof shown, keyof Notification>, never>),
      navigate: url,
      actions: actions?.map(({ url: navigate = url, ...action }) => ({ ...action, navigate })),
      timestamp: timestamp === undefined ? undefined : Date.parse(timestamp),
      data: { carillon: 1, id, events: eventsUrl, ...window, data },
      ...common,
    },
    ...common,
  } satisfies PushMessage;
}

/** The events URL of the recipients whose events one counter of a notification counts. Without a query: counter 0. */
export function eventCounterUrl(eventsUrl: string, counter: number): string {
  return counter === 0 ? eventsUrl : `${eventsUrl}?tally=${counter}`;
}
