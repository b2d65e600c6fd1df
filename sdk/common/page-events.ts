import type { ShownMembers } from '../../contract/wire/send-fields.ts';

/** Events of the SDK, which reach every open page of the same scope; `message` only one that has the focus. */

export interface ShownEvent {
  /** Id of the notification, as in the response to its send. */
  readonly id: string;
  /** The sender's own, from the send. */
  readonly data: unknown;
}

export interface ClickedEvent extends ShownEvent {
  /** Absolute URL that the click opens. */
  readonly url: string;
  /** Name of the pressed button. Empty: the notification itself was clicked. */
  readonly action: string;
}

/** A message that came while this page had the focus. It is not shown. */
export interface ReceivedMessage extends ShownEvent, ShownMembers {
  /** Absolute URL that a click would open. */
  readonly url: string;
  readonly actions: readonly {
    readonly action: string;
    readonly title: string;
    readonly icon?: string | undefined;
    readonly url: string;
  }[];
}

export type PageEvent =
  | { readonly name: 'change'; readonly detail?: undefined }
  | { readonly name: 'shown'; readonly detail: ShownEvent }
  | { readonly name: 'clicked'; readonly detail: ClickedEvent }
  | { readonly name: 'message'; readonly detail: ReceivedMessage };

/** A channel never receives what it sends, so each listener and each event has another one. */
export function openChannel(scope: string) {
  return new BroadcastChannel(`carillon ${scope}`);
}

/** Tells all pages of the scope, this one included. Where the browser denies channels, nobody is told. */
export function announce(scope: string, event: PageEvent = { name: 'change' }): void {
  try {
    const channel = openChannel(scope);
    channel.postMessage(event);
    channel.close();
  } catch {}
}
