import type { PushMessage } from './message.ts';

/**
 * Service workers of other services. After a move, a browser keeps the one that it has until it finds a new file at the
 * same URL. Each reads a message in its own way, and shows nothing without these members.
 */

/** What all of them need to know of a notification. */
interface Shown {
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
} as const satisfies Readonly<Record<string, (shown: Shown) => Members>>;

export type OldWorkerName = keyof typeof membersOf;
export const oldWorkerNames = Object.keys(membersOf) as readonly OldWorkerName[];

/** A project's setting, while subscriptions are moved. */
export interface OldWorker {
  readonly name: OldWorkerName;
  /** From then on, messages are as without it. */
  readonly until: Date;
}

/** A push message with what an old service worker needs to show it and to open its URL. */
export function withOldWorker(name: OldWorkerName, message: PushMessage): PushMessage {
  const { notification } = message;
  const { title, body, icon, navigate: url, data } = notification;
  const shown = { id: data.id, title, body, icon, url };
  const { message: onTop, notification: inside }: Members = membersOf[name](shown as Shown);
  return { ...message, notification: { ...notification, ...inside }, ...onTop };
}
