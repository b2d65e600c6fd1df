import type { NotificationContent } from './notification.ts';
import type { Template } from './placeholders.ts';
import {
  contentFields,
  type DisplayedMembers,
  type DisplayedName,
  displayedNames,
  type NamesWith,
} from './send-fields.ts';

/**
 * The push message that the send function encrypts and the service worker reads: version 1. It is
 * also a declarative push message (W3C Push API), which a browser can show without a service worker.
 */
export interface PushMessage {
  /** Marks a declarative push message; the number is that of the Web Push RFC. */
  readonly web_push: 8030;
  readonly notification: DisplayedMembers & {
    /**
     * Opened on click, relative to the service worker's scope. Declarative messages require it.
     * Default: `/`, the site's first page.
     */
    readonly navigate: string;
    readonly actions?: readonly MessageAction[] | undefined;
    readonly data: {
      /** Version of this format. Messages of other senders do not have it. */
      readonly carillon: 1;
      readonly id: string;
      /** URL to which the service worker reports events. Absent: it reports none. */
      readonly events?: string | undefined;
      /** Seconds over which browsers spread their `shown` events, at most 20. Default: 0. */
      readonly window?: number;
      /** `clicked`: the browser reports no `shown` event, because others are the sample. Default: it reports both. */
      readonly report?: 'clicked';
      /** `page`: a page of the site that has the focus gets the message. Default: it is shown. */
      readonly whenFocused?: 'page';
      /** The sender's own. */
      readonly data?: Readonly<Record<string, unknown>> | undefined;
    };
    /** Repeats the outer members: the first Safari releases with declarative messages read them here. */
    readonly app_badge?: number | undefined;
    readonly mutable?: true | undefined;
  };
  /** Number on the icon of the site's app; 0 removes it. */
  readonly app_badge?: number | undefined;
  /** Lets the service worker handle the message before the browser shows it. */
  readonly mutable?: true | undefined;
}

type HiddenName = NamesWith<typeof contentFields, { readonly seenBy: 'pushService' | 'service' }>;

/** A button. */
interface MessageAction {
  readonly action: string;
  readonly title: string;
  /** Opened when the button is clicked. Declarative messages require it. */
  readonly navigate: string;
  readonly icon?: string | undefined;
}

/**
 * @param eventsUrl absolute address of the notification's track route.
 * @param eventWindowSeconds over which browsers spread their `shown` events, at most
 *   `maxEventWindowSeconds`.
 * @param reportsShown whether the browser is one of those that report `shown`.
 */
export function pushMessage(
  id: string,
  content: NotificationContent,
  eventsUrl: string,
  eventWindowSeconds = 0,
  reportsShown = true,
) {
  const { url = '/', actions, data, appBadge, whenFocused, worker, events, ...others } = content;
  const window = eventWindowSeconds > 0 && { window: eventWindowSeconds };
  const report = !reportsShown && { report: 'clicked' as const };
  const focus = whenFocused === 'page' && { whenFocused };
  const address = events !== false && { events: eventsUrl };
  const common = { app_badge: appBadge, mutable: worker === false ? undefined : (true as const) };
  return {
    web_push: 8030,
    notification: {
      // A field for which browsers need code is a type error until it is taken out above, and used.
      ...displayedMembers(
        others satisfies Record<Exclude<keyof typeof others, DisplayedName | HiddenName>, never>,
      ),
      navigate: url,
      actions: actions?.map(({ url: navigate = url, ...action }) => ({ ...action, navigate })),
      data: { carillon: 1, id, ...address, ...window, ...report, ...focus, data },
      ...common,
    },
    ...common,
  } satisfies PushMessage;
}

function displayedMembers(content: Pick<Template, DisplayedName>): DisplayedMembers {
  const entries = displayedNames.map((name) => {
    const value = content[name];
    const isTime = contentFields[name].kind === 'time';
    return [name, isTime && value !== undefined ? Date.parse(String(value)) : value];
  });
  return Object.fromEntries(entries) as DisplayedMembers;
}

/** The events URL of the recipients whose events one counter of a notification counts. Without a query: counter 0. */
export function eventCounterUrl(eventsUrl: string, counter: number): string {
  return counter === 0 ? eventsUrl : `${eventsUrl}?tally=${counter}`;
}

/**
 * Service workers of other services. After a move, a browser keeps the one that it has until it finds a new file at the
 * same URL. Each reads a message in its own way, and shows nothing without these members.
 */

/** What all of them need to know of a notification. */
interface Displayed {
  readonly id: string;
  readonly title: string;
  readonly body: string | undefined;
  readonly icon: string | undefined;
  readonly url: string;
}

/** Members beside those of a push message. Browsers that show a declarative message themselves ignore them. */
interface Members {
  readonly message?: object;
  readonly notification?: object;
}

const membersOf = {
  onesignal: ({ id, title, body, icon, url }) => ({
    message: { title, alert: body, icon, custom: { i: id, u: url } },
  }),
  perfecty: ({ title, body, icon, url }) => ({
    message: { title, body, icon, extra: { url_to_open: url } },
  }),
  pusher: ({ url }) => ({
    message: { data: { pusher: {} } },
    notification: { deep_link: url },
  }),
  firebase: ({ url }) => ({ message: { fcmOptions: { link: url } } }),
  // Most tutorials have such a worker.
  flat: ({ title, body, icon, url }) => ({ message: { title, body, icon, url } }),
} as const satisfies Readonly<Record<string, (displayed: Displayed) => Members>>;

export type OldWorkerName = keyof typeof membersOf;
export const oldWorkerNames = Object.keys(membersOf) as readonly OldWorkerName[];

/** A project's setting, while subscriptions are moved. */
export interface OldWorker {
  readonly name: OldWorkerName;
  /** From then on, messages are as without it: ISO 8601. */
  readonly until: string;
}

/** A push message with what an old service worker needs to show it and to open its URL. */
export function withOldWorker(name: OldWorkerName, message: PushMessage): PushMessage {
  const { notification } = message;
  const { title, body, icon, navigate: url, data } = notification;
  const displayed = { id: data.id, title, body, icon, url };
  const { message: onTop, notification: inside }: Members = membersOf[name](displayed as Displayed);
  return { ...message, notification: { ...notification, ...inside }, ...onTop };
}
