import type { DisplayedMembers } from '../../contract/wire/send-fields.ts';
import type { SignedChoice } from './service.ts';

/** Events of the SDK, which reach every open page of the same scope; `message` only those that have the focus. */

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

/** A click, for the listeners of a page. */
export interface PageClick extends ClickedEvent {
  /** Whether this is the tab that opens the URL, and may do it itself. Of all open tabs, only one. */
  readonly cancelable: boolean;
  /** Lets the tab stay as it is, and get the focus: for a page that shows the URL without being loaded again. */
  preventDefault(): void;
}

/** A message that came while this page had the focus. It is not shown. */
export interface ReceivedMessage extends ShownEvent, DisplayedMembers {
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
  | { readonly name: 'said'; readonly detail: SaidUser };

/** Who uses the browser, as a page has said. No listener gets it. */
export interface SaidUser {
  readonly user: Pick<SignedChoice, 'userId' | 'userIdSignature'>;
  /** Milliseconds since the epoch. 0: no page has said it. */
  readonly saidAt: number;
}

/** What the service worker asks a page. The scope tells clients of several projects on one page apart. */
export type PageQuestion = { readonly carillon: string } & (
  | { readonly name: 'clicked'; readonly detail: ClickedEvent }
  | { readonly name: 'message'; readonly detail: ReceivedMessage }
  /** Only where it is: another sender's notification was clicked. */
  | { readonly name: 'place'; readonly detail: object }
);

export interface PageAnswer {
  /** Where the page is. */
  readonly url: string;
  /** Whether a listener has the message, or does itself what the click asks for. */
  readonly isTaken: boolean;
}

/** A channel never receives what it sends, so a page listens to one, and each event is sent by another one. */
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
