/**
 * The routes of the service. The stack builds the API from this table, the functions derive their CORS
 * headers from it, and the SDK and the tests take their URLs from it.
 */

export type RouteName =
  | 'subscribe'
  | 'unsubscribe'
  | 'getProject'
  | 'send'
  | 'listNotifications'
  | 'getNotification'
  | 'stopNotification'
  | 'track'
  | 'getUser'
  | 'removeUser';

/** Every function: one for each route, and deliver, which only send invokes. */
export type FunctionName = RouteName | 'deliver';

export interface Route {
  readonly name: RouteName;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** In API Gateway's notation: `{projectId}`, `{notificationId}`. */
  readonly path: string;
  /**
   * Pages of any origin may call the routes for browsers. Those for owners need the secret key: it must
   * not be in a browser.
   */
  readonly caller: 'browser' | 'owner';
  /** Whether this route's function also answers the path's preflight (OPTIONS). */
  readonly answersPreflight: boolean;
}

const project = '/api/v1/projects/{projectId}';

export const routes = {
  subscribe: {
    name: 'subscribe',
    method: 'POST',
    path: project,
    caller: 'browser',
    answersPreflight: true,
  },
  unsubscribe: {
    name: 'unsubscribe',
    method: 'DELETE',
    path: project,
    caller: 'browser',
    // Subscribe's function answers the preflight of this path, for both methods.
    answersPreflight: false,
  },
  getProject: {
    name: 'getProject',
    method: 'GET',
    path: project,
    caller: 'owner',
    answersPreflight: false,
  },
  send: {
    name: 'send',
    method: 'POST',
    path: `${project}/notifications`,
    caller: 'owner',
    answersPreflight: false,
  },
  listNotifications: {
    name: 'listNotifications',
    method: 'GET',
    path: `${project}/notifications`,
    caller: 'owner',
    answersPreflight: false,
  },
  getNotification: {
    name: 'getNotification',
    method: 'GET',
    path: `${project}/notifications/{notificationId}`,
    caller: 'owner',
    answersPreflight: false,
  },
  stopNotification: {
    name: 'stopNotification',
    method: 'DELETE',
    path: `${project}/notifications/{notificationId}`,
    caller: 'owner',
    answersPreflight: false,
  },
  track: {
    name: 'track',
    method: 'POST',
    path: `${project}/notifications/{notificationId}/events`,
    caller: 'browser',
    answersPreflight: true,
  },
  // The id is in the query, because it may contain a slash.
  getUser: {
    name: 'getUser',
    method: 'GET',
    path: `${project}/users`,
    caller: 'owner',
    answersPreflight: false,
  },
  removeUser: {
    name: 'removeUser',
    method: 'DELETE',
    path: `${project}/users`,
    caller: 'owner',
    answersPreflight: false,
  },
} as const satisfies { readonly [Name in RouteName]: Route & { readonly name: Name } };

/** A route's path with its parameters filled in, percent-encoded. */
export function pathOf({ path }: Route, parameters: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name]!));
}
