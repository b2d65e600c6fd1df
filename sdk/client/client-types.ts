import type { HistoryEntry } from '../common/history.ts';
import type { PageClick, ReceivedMessage, ShownEvent } from '../common/page-events.ts';
import type { UnsupportedReason } from './environment.ts';
import type { CloseOptions, SubscribeOptions } from './options.ts';

/** The state of push on a page. */
export interface PushState {
  /** Whether this page can receive pushes. */
  readonly supported: boolean;
  /** Why not, if it is not supported. */
  readonly reason: UnsupportedReason | undefined;
  readonly permission: NotificationPermission | 'unsupported';
  /**
   * The service worker that gets the pushes. `other`: one that does not answer as Carillon's within 10 s, and shows none
   * of its notifications; the console names the file and says what to do.
   */
  readonly worker: 'carillon' | 'other' | 'none';
  /** Whether the browser is subscribed to this project, and Carillon's worker gets the pushes. */
  readonly subscribed: boolean;
  /**
   * Whether it was subscribed, and has lost the subscription or the permission. False after `unsubscribe()`. Before
   * {@link CarillonClient.ready} it may be true of a subscription that `init()` is about to replace.
   */
  readonly lost: boolean;
  /** The user id of this browser. Undefined: it has none. */
  readonly userId: string | undefined;
  /** See {@link CarillonClient.channels}. */
  readonly channels: readonly string[];
}

/** What listeners receive, by the name of the event. */
export interface CarillonEvents {
  /** The subscription, its user id, its channels, the worker or the permission changed, in this tab or elsewhere. */
  readonly change: PushState;
  /** The service worker showed a notification. */
  readonly shown: ShownEvent;
  /** A person clicked a notification, or one of its buttons. */
  readonly clicked: PageClick;
  /**
   * A message with `whenFocused: "page"` came while this page had the focus. If a listener returns, no notification is
   * shown.
   */
  readonly message: ReceivedMessage;
}

/** Push for one project on this page. */
export interface CarillonClient {
  /** Whether this page can receive pushes. On iOS only after installation to the home screen. */
  readonly supported: boolean;
  /** Resolves when the attempt of `init()` to register the browser again has ended. Never rejects. */
  readonly ready: Promise<void>;
  /** The current state. Shows no prompt. */
  state(): Promise<PushState>;
  /**
   * Listens to an event.
   * @returns a function that removes the listener.
   */
  on<Name extends keyof CarillonEvents>(
    name: Name,
    listener: (event: CarillonEvents[Name]) => void,
  ): () => void;
  /** The current permission. Shows no prompt. */
  permission(): Promise<NotificationPermission | 'unsupported'>;
  /**
   * Asks for permission, subscribes the browser and registers the subscription with the service. Call
   * it in a click: browsers show the prompt only then. If it rejects, it leaves no new subscription.
   * @throws {CarillonError}
   */
  subscribe(
    options?: SubscribeOptions & { readonly renewal?: false | undefined },
  ): Promise<PushSubscription>;
  /** Undefined: the visitor has unsubscribed, or was erased. */
  subscribe(options: SubscribeOptions): Promise<PushSubscription | undefined>;
  /**
   * Removes the subscription from the browser, then from the service. User id and channels are those of `init()` again.
   * @returns whether there was a subscription.
   * @throws {CarillonError} if one of them failed, or if the browser cannot store that the visitor has left: a later page
   *   view would then subscribe it again. One that the browser has ended is removed from the service by the next send.
   */
  unsubscribe(): Promise<boolean>;
  /** The browser's subscription to this project, or null. */
  subscription(): Promise<PushSubscription | null>;
  /**
   * Which of its user's devices this browser is: the `id` in the `devices` that your server reads with `user()` of
   * `CarillonServer`. Undefined if it is not subscribed. It changes when the browser subscribes again.
   */
  deviceId(): Promise<string | undefined>;
  /**
   * Sets the user id of this browser: call it after log-in with an id, and after log-out with null. It
   * makes a request only if the user id or its signature has changed, so every page may call it. Before
   * `subscribe()`, they are kept on this page for that call.
   * @param userIdSignature proof of the user id, made by your server with `signUserId` of `carillon/server`.
   * @throws {CarillonError} the user id is then as before.
   */
  identify(userId: string | null, userIdSignature?: string): Promise<void>;
  /** The channels of this browser. */
  channels(): Promise<readonly string[]>;
  /**
   * Sets all channels of this browser, as the visitor has chosen them. It makes a request only if they have
   * changed. Before `subscribe()`, they are kept on this page for that call.
   * @throws {CarillonError} the channels are then as before.
   */
  setChannels(channels: readonly string[]): Promise<void>;
  /**
   * What was shown in this browser to its present user in the last 30 days, newest first. It is kept if the options
   * have `history`, and erased by a log-out, another user and `unsubscribe()`.
   */
  history(): Promise<readonly HistoryEntry[]>;
  /**
   * Removes shown notifications at this scope: those with a tag, or the one with an id.
   * @returns how many.
   * @throws {CarillonError} `invalid_options`.
   */
  close(which: CloseOptions): Promise<number>;
}
