import { type FunctionFacts, pushing } from './function-facts.ts';
import type { Role } from './roles.ts';
import { sendTimeline } from './timeline.ts';

/**
 * The routes of the service: all that is fact about each, except for its schemas and its documentation. The stack
 * builds API and functions from this table, the functions their chain, and SDK, documents and tests read it too.
 */

export type RouteName = keyof typeof facts;

interface RouteFacts extends Partial<FunctionFacts> {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** In API Gateway's notation: `{projectId}`, `{notificationId}`. */
  readonly path: string;
  /** Whether this route's function also answers the path's preflight (OPTIONS). Default: no. */
  readonly answersPreflight?: true;
}

/** Pages of any origin may call it. */
interface BrowserRoute extends RouteFacts {
  readonly caller: 'browser';
}

/** It needs the secret key, which must not be in a browser, or a member key. */
interface OwnerRoute extends RouteFacts {
  readonly caller: 'owner';
  /** The least role that may call it. */
  readonly role: Role;
  /** What a caller with a lesser role is told that it may not do. */
  readonly action: string;
}

const project = '/api/v1/projects/{projectId}';
const notifications = `${project}/notifications` as const;
const notification = `${notifications}/{notificationId}` as const;
// The id is in the query, because it may contain a slash.
const users = `${project}/users` as const;

/**
 * Of its function, a row has what it adds to `functions.ts`: tables and variables besides those of every route, and
 * other memory or time than those of a small function.
 */
const facts = {
  subscribe: {
    method: 'POST',
    path: project,
    caller: 'browser',
    // Also for unsubscribe, which has the same path.
    answersPreflight: true,
    tables: {
      identityKeys: ['GetItem'],
      subscriptions: ['PutItem', 'UpdateItem'],
      usage: ['UpdateItem', 'Query'],
    },
    variables: ['SUBSCRIBER_CAP', 'EXTRA_PUSH_ORIGINS'],
  },
  unsubscribe: {
    method: 'DELETE',
    path: project,
    caller: 'browser',
    tables: { subscriptions: ['GetItem', 'DeleteItem'], usage: ['UpdateItem'] },
  },
  getProject: {
    method: 'GET',
    path: project,
    caller: 'owner',
    role: 'viewer',
    action: 'read the project',
    tables: { subscriptions: ['Query'], usage: ['Query'] },
    variables: ['SUBSCRIBER_CAP', 'MONTHLY_SEND_CAP'],
  },
  send: {
    method: 'POST',
    path: notifications,
    caller: 'owner',
    role: 'sender',
    action: 'send notifications',
    ...pushing,
    timeoutMs: sendTimeline.timeoutMs,
    tables: {
      ...pushing.tables,
      // A send checks that the parts of the subscriber counter exist: the project was not deleted.
      usage: ['UpdateItem', 'Query', 'ConditionCheckItem'],
      notifications: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'],
    },
    variables: [
      ...pushing.variables,
      'MONTHLY_SEND_CAP',
      'PUSHES_PER_SECOND',
      'DELIVER_FUNCTION',
      'AWS_ENDPOINT_URL_LAMBDA',
      'PUBLIC_BASE_URL',
    ],
  },
  listNotifications: {
    method: 'GET',
    path: notifications,
    caller: 'owner',
    role: 'viewer',
    action: 'list notifications',
    tables: { notifications: ['Query'], deliveries: ['BatchGetItem'] },
  },
  getNotification: {
    method: 'GET',
    path: notification,
    caller: 'owner',
    role: 'viewer',
    action: 'read notifications',
    tables: { notifications: ['GetItem'], deliveries: ['BatchGetItem'] },
  },
  stopNotification: {
    method: 'DELETE',
    path: notification,
    caller: 'owner',
    role: 'sender',
    action: 'stop notifications',
    tables: { notifications: ['GetItem'], deliveries: ['BatchGetItem', 'UpdateItem'] },
  },
  track: {
    method: 'POST',
    path: `${notification}/events`,
    caller: 'browser',
    answersPreflight: true,
    // Nobody waits for its response, and it mostly waits for DynamoDB itself: half the memory makes its time a third
    // cheaper.
    memoryMb: 256,
    tables: { deliveries: ['UpdateItem'] },
  },
  getUser: {
    method: 'GET',
    path: users,
    caller: 'owner',
    role: 'sender',
    action: 'read what is stored about a user',
    tables: { subscriptions: ['Query byUser'] },
  },
  removeUser: {
    method: 'DELETE',
    path: users,
    caller: 'owner',
    role: 'owner',
    action: 'remove users or their devices',
    tables: { subscriptions: ['Query byUser', 'DeleteItem'], usage: ['UpdateItem'] },
  },
} as const satisfies Readonly<Record<string, BrowserRoute | OwnerRoute>>;

type Facts = typeof facts;

export type Route = { readonly name: RouteName } & (BrowserRoute | OwnerRoute);

/** A route of this caller. */
export type RouteOf<Caller extends Route['caller']> = Extract<Route, { readonly caller: Caller }>;

export const routes = Object.fromEntries(
  Object.entries(facts).map(([name, one]) => [name, { name, ...one }]),
) as { readonly [Name in RouteName]: { readonly name: Name } & Facts[Name] };

export const routeNames = Object.keys(facts) as readonly RouteName[];
