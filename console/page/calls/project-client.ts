import { pathOf, type Route, routes } from '../../../contract/routes.ts';
import type {
  Accepted,
  NotificationResult,
  SendBody,
  SendResult,
} from '../../../contract/schemas/notification.ts';
import type { NotificationList } from '../../../contract/schemas/notification-list.ts';
import type { ProjectResult } from '../../../contract/schemas/project.ts';
import type { RemovedUser, UserSubscriptions } from '../../../contract/schemas/user.ts';
import { CarillonError } from '../../../sdk/common/error.ts';
import { attempt } from '../../../sdk/server/attempt.ts';

/** Calls the routes of one project. Every method throws a {@link CarillonError}. */
export interface ProjectClient {
  readonly projectId: string;
  project(): Promise<ProjectResult>;
  /** @param idempotencyKey the same for a send and its repetitions. */
  send(
    notification: SendBody,
    options: { readonly idempotencyKey: string; readonly respondAsync: boolean },
  ): Promise<SendResult | Accepted>;
  notification(notificationId: string): Promise<NotificationResult>;
  /** @param cursor `nextCursor` of the page before. */
  notifications(options?: {
    readonly limit?: number;
    readonly cursor?: string | undefined;
  }): Promise<NotificationList>;
  user(userId: string): Promise<UserSubscriptions>;
  removeUser(userId: string): Promise<RemovedUser>;
}

/** The service responds within 30 s, or its gateway does; the console's server after 35 s. */
const timeoutMs = 40_000;

/**
 * Calls the service through this page's origin: `npm start` serves both, and `npm run console` forwards
 * the calls. There are no retries: a person sees what failed, and decides.
 */
export function projectClient(projectId: string, secretKey: string): ProjectClient {
  async function call<Body>(
    route: Route,
    { id, query = {}, headers = {}, body }: CallParts = {},
  ): Promise<Body> {
    const url = new URL(pathOf(route, { projectId, notificationId: id ?? '' }), location.origin);
    url.search = new URLSearchParams(query).toString();
    const result = await attempt<Body>(url, {
      method: route.method,
      headers: { authorization: `Bearer ${secretKey}`, ...headers },
      ...(body !== undefined && { body }),
      cache: 'no-store',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (result instanceof CarillonError) throw result;
    return result;
  }

  return {
    projectId,
    project: () => call(routes.getProject),
    send: (notification, { idempotencyKey, respondAsync }) =>
      call(routes.send, {
        headers: {
          'content-type': 'application/json',
          'idempotency-key': idempotencyKey,
          ...(respondAsync && { prefer: 'respond-async' }),
        },
        body: JSON.stringify(notification),
      }),
    notification: (id) => call(routes.getNotification, { id }),
    notifications: ({ limit, cursor } = {}) =>
      call(routes.listNotifications, {
        query: {
          ...(limit !== undefined && { limit: String(limit) }),
          ...(cursor !== undefined && { cursor }),
        },
      }),
    user: (userId) => call(routes.getUser, { query: { userId } }),
    removeUser: (userId) => call(routes.removeUser, { query: { userId } }),
  };
}

interface CallParts {
  readonly id?: string;
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}
