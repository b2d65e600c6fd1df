import { setTimeout as pause } from 'node:timers/promises';
import { idempotencyKeyPattern, secretKeyPattern } from '../../contract/formats.ts';
import { pathOf, type Route, routes } from '../../contract/routes.ts';
import type {
  Accepted,
  NotificationResult,
  SendBody,
  SendResult,
} from '../../contract/schemas/notification.ts';
import type { NotificationList } from '../../contract/schemas/notification-list.ts';
import type { ProjectResult } from '../../contract/schemas/project.ts';
import type { RemovedUser, UserSubscriptions } from '../../contract/schemas/user.ts';
import { CarillonError } from '../common/error.ts';
import {
  invalidOption,
  readBaseUrl,
  readProjectId,
  requireMatch,
} from '../common/option-checks.ts';
import { retryPauseMs } from '../common/retry-pause.ts';
import { type Timing, timing } from '../common/timing.ts';
import { attempt, attemptTimeoutMs, isTransient } from './attempt.ts';

export { CarillonError, type CarillonErrorCode } from '../common/error.ts';
export type {
  Accepted,
  NotificationList,
  NotificationResult,
  ProjectResult,
  RemovedUser,
  SendBody,
  SendResult,
  UserSubscriptions,
};

export interface CarillonServerOptions {
  /** Address of the service, without a path: `https://push.example.com`. */
  readonly baseUrl: string;
  readonly projectId: string;
  /** The project's secret key, from its API key card: `carillon_sk_…`. */
  readonly secretKey: string;
  /** Limit for a call with all its attempts and pauses. Default: 120,000. */
  readonly timeoutMs?: number;
  /** A call is not retried after a response with a longer `Retry-After`. Default: 60. */
  readonly maxRetryAfterSeconds?: number;
}

export interface CallOptions {
  /** Ends the call, which then rejects with the signal's `reason`. */
  readonly signal?: AbortSignal;
}

export interface SendOptions extends CallOptions {
  /**
   * 1 to 255 printable ASCII characters without spaces. For 24 hours, a send with the same key and
   * notification gets the response of the first one, also with another `respondAsync`, and sends
   * nothing. Default: a new UUID.
   */
  readonly idempotencyKey?: string;
  /** Whether to respond before the delivery (`Prefer: respond-async`). Default: false. */
  readonly respondAsync?: boolean;
}

export interface ListOptions extends CallOptions {
  /** Most notifications of the page: 1 to 100. Default: 20. */
  readonly limit?: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
}

/** Time and randomness. Tests replace them. */
export interface ServerTiming extends Timing {
  /** Rejects if the signal is aborted. */
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<unknown>;
}

const nodeTiming: ServerTiming = {
  ...timing,
  wait: (ms, signal) => pause(ms, undefined, { signal }),
};

const firstPauseMs = 1000;

/** Sends notifications of one project, reads their results, and removes its users. For servers only. */
export class CarillonServer {
  // Private, so that logging the client does not print the secret key.
  readonly #baseUrl: string;
  readonly #projectId: string;
  readonly #secretKey: string;
  readonly #timeoutMs: number;
  readonly #maxRetryAfterSeconds: number;
  readonly #timing: ServerTiming;

  /** @throws {CarillonError} `invalid_options`, with the option's name and a correct form. */
  constructor(options: CarillonServerOptions, serverTiming = nodeTiming) {
    if ('document' in globalThis) {
      throw invalidOption(
        'secretKey',
        'a secret key must never be in a page, where everyone can read it; call CarillonServer on your server',
      );
    }
    const { baseUrl, projectId, secretKey, timeoutMs, maxRetryAfterSeconds } = options;
    this.#baseUrl = readBaseUrl(baseUrl);
    this.#projectId = readProjectId(projectId);
    this.#secretKey = requireMatch(
      secretKeyPattern,
      secretKey,
      'secretKey',
      'copy the secret key from the API key card: "carillon_sk_" and 43 characters',
    );
    this.#timeoutMs = timeoutMs ?? 120_000;
    this.#maxRetryAfterSeconds = maxRetryAfterSeconds ?? 60;
    this.#timing = serverTiming;
  }

  /**
   * Sends a notification to everyone, or to `userIds`. All attempts have one idempotency key: the
   * notification is sent at most once.
   * @returns the counts, after the delivery. With `respondAsync`, the id at once.
   * @throws {CarillonError} the last failure.
   */
  send(
    notification: SendBody,
    options: SendOptions & { readonly respondAsync: true },
  ): Promise<Accepted>;
  send(
    notification: SendBody,
    options?: SendOptions & { readonly respondAsync?: false },
  ): Promise<SendResult>;
  async send(
    notification: SendBody,
    { idempotencyKey, respondAsync = false, signal }: SendOptions = {},
  ): Promise<SendResult | Accepted> {
    const key = requireMatch(
      idempotencyKeyPattern,
      idempotencyKey ?? crypto.randomUUID(),
      'idempotencyKey',
      'use 1 to 255 printable ASCII characters without spaces',
    );
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': key,
      ...(respondAsync && { prefer: 'respond-async' }),
    };
    const body = JSON.stringify(notification);
    return this.#request(routes.send, { signal, headers, body });
  }

  /**
   * Reads a notification and its counts so far.
   * @param notificationId the `id` in the response of send.
   * @throws {CarillonError} the last failure.
   */
  notification(notificationId: string, { signal }: CallOptions = {}): Promise<NotificationResult> {
    return this.#request(routes.getNotification, { parameters: { notificationId }, signal });
  }

  /** Reads a page of the project's notifications, the newest first. @throws {CarillonError} */
  notifications({ limit, cursor, signal }: ListOptions = {}): Promise<NotificationList> {
    const query = {
      ...(limit === undefined ? {} : { limit: String(limit) }),
      ...(cursor === undefined ? {} : { cursor }),
    };
    return this.#request(routes.listNotifications, { query, signal });
  }

  /** Reads the project, its caps and what it has used of them. @throws {CarillonError} */
  project({ signal }: CallOptions = {}): Promise<ProjectResult> {
    return this.#request(routes.getProject, { signal });
  }

  /** Counts the subscriptions of a user id. @throws {CarillonError} */
  user(userId: string, { signal }: CallOptions = {}): Promise<UserSubscriptions> {
    return this.#request(routes.getUser, { query: { userId }, signal });
  }

  /**
   * Removes all subscriptions of a user id.
   * @returns how many the last attempt removed.
   * @throws {CarillonError} the last failure.
   */
  removeUser(userId: string, { signal }: CallOptions = {}): Promise<RemovedUser> {
    return this.#request(routes.removeUser, { query: { userId }, signal });
  }

  async #request<Body>(
    route: Route,
    { parameters, query, headers, body, signal }: Call,
  ): Promise<Body> {
    const { now, random, wait } = this.#timing;
    const url = new URL(
      pathOf(route, { projectId: this.#projectId, ...parameters }),
      this.#baseUrl,
    );
    url.search = new URLSearchParams(query).toString();
    const init: RequestInit = {
      method: route.method,
      headers: { authorization: `Bearer ${this.#secretKey}`, ...headers },
      body,
      // A redirected POST becomes a GET, and the key would follow.
      redirect: 'manual',
    };
    const end = now() + this.#timeoutMs;
    for (let failures = 1; ; failures++) {
      const timeout = AbortSignal.timeout(Math.max(1, Math.min(attemptTimeoutMs, end - now())));
      const result = await attempt<Body>(url, {
        ...init,
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      });
      if (!(result instanceof CarillonError)) return result;
      signal?.throwIfAborted();
      const { retryAfter = 0 } = result;
      const pauseMs = retryPauseMs(firstPauseMs, failures, retryAfter, random());
      const isTooLate = retryAfter > this.#maxRetryAfterSeconds || now() + pauseMs >= end;
      if (!isTransient(result) || isTooLate) throw result;
      await wait(pauseMs, signal).finally(() => signal?.throwIfAborted());
    }
  }
}

/** What differs between the calls of routes. */
interface Call {
  readonly parameters?: Readonly<Record<string, string>>;
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal | undefined;
}
