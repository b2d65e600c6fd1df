import type { NotificationContent } from './schemas.ts';

/**
 * What travels, encrypted, from the send function to the service worker: version 1 of the format.
 * It is a Declarative Web Push message (W3C Push API, "declarative push message") at the same
 * time, so that a browser which knows those can show it when no service worker answers.
 */
export interface PushMessage {
  /** Marks a declarative message; the number is that of the Web Push RFC. */
  readonly web_push: 8030;
  readonly notification: {
    readonly title: string;
    readonly body?: string;
    /**
     * Opened on click, relative to the service worker's scope. A declarative message must have
     * one; where the sender named none, it is the site's first page.
     */
    readonly navigate: string;
    readonly icon?: string;
    readonly image?: string;
    readonly badge?: string;
    readonly data: {
      /** Version of this format; tells Carillon's messages from those of other senders. */
      readonly carillon: 1;
      readonly id: string;
      /** Where the service worker posts its beacons. */
      readonly events: string;
    };
    /** The same as the outer one, where the first Safari releases with such messages look. */
    readonly mutable: true;
  };
  /** Lets the service worker handle the message before the browser shows it by itself. */
  readonly mutable: true;
}

/** @param eventsUrl absolute address of the notification's track route. */
export function pushMessage(id: string, content: NotificationContent, eventsUrl: string) {
  const { url, ...shown } = content;
  const data = { carillon: 1, id, events: eventsUrl } as const;
  return {
    web_push: 8030,
    notification: { ...shown, navigate: url ?? '/', data, mutable: true },
    mutable: true,
  } satisfies PushMessage;
}
