/**
 * The routes of the service. The stack builds the API from this table, the functions derive their CORS
 * headers from it, and the SDK and the tests take their URLs from it.
 */

export type RouteName = keyof typeof facts;

/** Every function: one for each route, deliver, which only send invokes, and console, which serves its page. */
export type FunctionName = RouteName | 'deliver' | 'console';

/** The routes that need a key of the project. */
export type OwnerRouteName = {
  [Name in RouteName]: (typeof facts)[Name]['caller'] extends 'owner' ? Name : never;
}[RouteName];

interface RouteFacts {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** In API Gateway's notation: `{projectId}`, `{notificationId}`. */
  readonly path: string;
  /**
   * Pages of any origin may call the routes for browsers. Those for owners need the secret key, which must
   * not be in a browser, or a member key.
   */
  readonly caller: 'browser' | 'owner';
  /** Whether this route's function also answers the path's preflight (OPTIONS). Default: no. */
  readonly answersPreflight?: true;
}

export interface Route extends RouteFacts {
  readonly name: RouteName;
}

const project = '/api/v1/projects/{projectId}';
const notifications = `${project}/notifications` as const;
const notification = `${notifications}/{notificationId}` as const;
// The id is in the query, because it may contain a slash.
const users = `${project}/users` as const;

const facts = {
  // Its function answers the preflight of this path, for both methods.
  subscribe: { method: 'POST', path: project, caller: 'browser', answersPreflight: true },
  unsubscribe: { method: 'DELETE', path: project, caller: 'browser' },
  getProject: { method: 'GET', path: project, caller: 'owner' },
  send: { method: 'POST', path: notifications, caller: 'owner' },
  listNotifications: { method: 'GET', path: notifications, caller: 'owner' },
  getNotification: { method: 'GET', path: notification, caller: 'owner' },
  stopNotification: { method: 'DELETE', path: notification, caller: 'owner' },
  track: {
    method: 'POST',
    path: `${notification}/events`,
    caller: 'browser',
    answersPreflight: true,
  },
  getUser: { method: 'GET', path: users, caller: 'owner' },
  removeUser: { method: 'DELETE', path: users, caller: 'owner' },
} as const satisfies Readonly<Record<string, RouteFacts>>;

export const routes = Object.fromEntries(
  Object.entries(facts).map(([name, one]) => [name, { name, ...one }]),
) as { readonly [Name in RouteName]: Route & { readonly name: Name } & (typeof facts)[Name] };

export const routeNames = Object.keys(facts) as readonly RouteName[];

/** A route's path with its parameters filled in, percent-encoded. */
export function pathOf({ path }: Route, parameters: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name]!));
}
