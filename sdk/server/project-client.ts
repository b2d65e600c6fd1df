import { pathOf } from '../../contract/text/addresses.ts';
import { idempotencyKeyPattern } from '../../contract/wire/formats.ts';
import type {
  AcceptedSend,
  NotificationList,
  NotificationResult,
  ReadonlySendRequest,
  SendResult,
} from '../../contract/wire/notification.ts';
import type { ProjectResult } from '../../contract/wire/project-result.ts';
import { routeAddresses } from '../../contract/wire/route-addresses.ts';
import type { Route } from '../../contract/wire/routes.ts';
import type { RemovedUser, UserSubscriptions } from '../../contract/wire/user.ts';
import type { CarillonError } from '../common/error.ts';
import { expectKnown, invalidOption, requireMatch } from '../common/option-checks.ts';
import { attempt } from './attempt.ts';

export interface ProjectAccess {
  /** Address of the service, without a path: `https://push.example.com`. */
  readonly baseUrl: string;
  readonly projectId: string;
  /** The project's secret key, from its API key card: `carillon_sk_…`. */
  readonly secretKey: string;
}

export interface CallOptions {
  /** Ends the call, which then rejects with the signal's `reason`. */
  readonly signal?: AbortSignal | undefined;
}

export interface SendOptions extends CallOptions {
  /**
   * 1 to 255 printable ASCII characters without spaces. For a day, a send with the same key and
   * notification gets the response of the first one, also with another `respondAsync`, and sends
   * nothing. Default: a new UUID.
   */
  readonly idempotencyKey?: string | undefined;
  /** Whether to respond before the delivery (`Prefer: respond-async`). Default: false. */
  readonly respondAsync?: boolean | undefined;
}

/** The names of each call's options, beside `signal`. */
const sendOptionNames: readonly (keyof SendOptions)[] = ['idempotencyKey', 'respondAsync'];
const projectOptionNames: readonly (keyof ProjectOptions)[] = ['sample'];
const listOptionNames: readonly (keyof ListOptions)[] = ['limit', 'cursor'];

/** The fields of a notification without which more people get it. */
const narrowingFields: readonly (keyof ReadonlySendRequest)[] = [
  'userIds',
  'recipients',
  'channels',
  'locales',
  'seenWithinDays',
];

export interface ProjectOptions extends CallOptions {
  /** Adds counts of up to 1,000 subscribers: `sample` of the result. */
  readonly sample?: 'subscribers' | undefined;
}

export interface ListOptions extends CallOptions {
  /** Most notifications of the page: 1 to 100. Default: 20. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/**
 * Makes the attempts of a call.
 * @param attemptOnce takes the signal that ends the attempt, and what to call when a response begins.
 * @param signal of the caller.
 * @throws {CarillonError} the last failure.
 */
export type MakeAttempts = <Body>(
  attemptOnce: (signal: AbortSignal, onResponse?: () => void) => Promise<Body | CarillonError>,
  signal: AbortSignal | undefined,
) => Promise<Body>;

/** Calls the routes of one project that need its secret key. */
export class ProjectClient {
  readonly projectId: string;
  // Private, so that logging the client does not print the secret key.
  readonly #baseUrl: string;
  readonly #secretKey: string;
  readonly #makeAttempts: MakeAttempts;

  constructor({ baseUrl, projectId, secretKey }: ProjectAccess, makeAttempts: MakeAttempts) {
    this.projectId = projectId;
    this.#baseUrl = baseUrl;
    this.#secretKey = secretKey;
    this.#makeAttempts = makeAttempts;
  }

  /**
   * Sends a notification to everyone, or to `userIds`. All attempts have one idempotency key: the
   * notification is sent at most once.
   * @returns the counts, after the delivery. With `respondAsync`, the id at once.
   * @throws {CarillonError} the last failure; `invalid_options` if a field that chooses who gets it is undefined.
   */
  send(
    notification: ReadonlySendRequest,
    options: SendOptions & { readonly respondAsync: true },
  ): Promise<AcceptedSend>;
  send(
    notification: ReadonlySendRequest,
    options?: SendOptions & { readonly respondAsync?: false | undefined },
  ): Promise<SendResult>;
  send(
    notification: ReadonlySendRequest,
    options?: SendOptions,
  ): Promise<SendResult | AcceptedSend>;
  async send(
    notification: ReadonlySendRequest,
    options: SendOptions = {},
  ): Promise<SendResult | AcceptedSend> {
    const { idempotencyKey = crypto.randomUUID(), respondAsync } = options;
    const key = requireMatch(
      idempotencyKeyPattern,
      idempotencyKey,
      'idempotencyKey',
      'use 1 to 255 visible ASCII characters',
    );
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': key,
      ...(respondAsync && { prefer: 'respond-async' }),
    };
    const body = JSON.stringify(notification);
    for (const name of narrowingFields) {
      // Undefined, a function, or a getter of a class.
      if (name in Object(notification) && !(name in JSON.parse(body))) {
        throw invalidOption(name, 'JSON omits it; leave it out to send to everyone');
      }
    }
    return this.#call(routeAddresses.send, { headers, body }, options, sendOptionNames);
  }

  /**
   * Reads a notification and its counts so far.
   * @param notificationId the `id` in the response of send.
   * @throws {CarillonError} the last failure.
   */
  notification(notificationId: string, options?: CallOptions): Promise<NotificationResult> {
    return this.#call(routeAddresses.getNotification, { parameters: { notificationId } }, options);
  }

  /**
   * Stops a notification: after some seconds, no push starts. One whose delivery has ended is returned as it is.
   * @param notificationId the `id` in the response of send, or in the list while send waits.
   * @throws {CarillonError} the last failure.
   */
  stop(notificationId: string, options?: CallOptions): Promise<NotificationResult> {
    return this.#call(routeAddresses.stopNotification, { parameters: { notificationId } }, options);
  }

  /** Reads a page of the project's notifications, the newest first. @throws {CarillonError} */
  async notifications(options: ListOptions = {}): Promise<NotificationList> {
    const { limit, cursor } = options;
    const query = {
      ...(limit !== undefined && { limit: String(limit) }),
      ...(cursor && { cursor }),
    };
    return this.#call(routeAddresses.listNotifications, { query }, options, listOptionNames);
  }

  /** Reads the project, its caps and its usage. @throws {CarillonError} */
  async project(options: ProjectOptions = {}): Promise<ProjectResult> {
    const { sample } = options;
    const query = { ...(sample && { sample }) };
    return this.#call(routeAddresses.getProject, { query }, options, projectOptionNames);
  }

  /** Counts the subscriptions of a user id, and lists them as `devices`. @throws {CarillonError} */
  user(userId: string, options?: CallOptions): Promise<UserSubscriptions> {
    return this.#call(routeAddresses.getUser, { query: { userId } }, options);
  }

  /**
   * Removes all subscriptions of a user id.
   * @returns how many the last attempt removed.
   * @throws {CarillonError} the last failure.
   */
  removeUser(userId: string, options?: CallOptions): Promise<RemovedUser> {
    return this.#call(routeAddresses.removeUser, { query: { userId } }, options);
  }

  /**
   * Removes one device of a user id.
   * @param device the `id` of one of the `devices` that {@link user} returns.
   * @returns 1; 0 if the user does not have it.
   * @throws {CarillonError} the last failure.
   */
  removeDevice(userId: string, device: string, options?: CallOptions): Promise<RemovedUser> {
    return this.#call(routeAddresses.removeUser, { query: { userId, device } }, options);
  }

  /** @throws {CarillonError} `invalid_options` if a value is not text, or empty: it would mean nobody, or everybody. */
  async #call<Body>(
    route: Pick<Route, 'method' | 'path'>,
    { parameters, query, headers, body }: Call,
    options: CallOptions = {},
    optionNames: readonly string[] = [],
  ): Promise<Body> {
    expectKnown(options, [...optionNames, 'signal']);
    for (const [name, value] of Object.entries({ ...parameters, ...query })) {
      requireMatch(/./s, value, name, 'use text that is not empty');
    }
    const path = pathOf(route, { projectId: this.projectId, ...parameters });
    const url = new URL(path, this.#baseUrl);
    url.search = String(new URLSearchParams(query));
    const init: RequestInit = {
      method: route.method,
      headers: { authorization: `Bearer ${this.#secretKey}`, ...headers },
      ...(body && { body }),
      // A redirected POST becomes a GET, and the key would follow.
      redirect: 'manual',
    };
    return this.#makeAttempts(
      (end, onResponse) => attempt<Body>(url, { ...init, signal: end }, onResponse),
      options.signal,
    );
  }
}

/** What differs between the calls of routes. */
interface Call {
  readonly parameters?: Readonly<Record<string, string>>;
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}
