/**
 * The service's four routes. The stack builds the API from this table, the functions take their
 * CORS answers from it, and the local stack and the documentation name no route of their own.
 */

export type RouteName = 'subscribe' | 'unsubscribe' | 'send' | 'track';

export interface Route {
  readonly name: RouteName;
  readonly method: 'POST' | 'DELETE';
  /** In API Gateway's notation: `{projectId}`, `{notificationId}`. */
  readonly path: string;
  /**
   * Methods a browser on another origin may use on this path, or undefined where no browser may.
   * Send has none: its secret key must not live in a browser.
   */
  readonly corsMethods?: readonly string[];
  /** Whether this route's function also answers the path's OPTIONS preflight. */
  readonly answersPreflight: boolean;
}

const project = '/api/v1/projects/{projectId}';

export const routes = {
  subscribe: {
    name: 'subscribe',
    method: 'POST',
    path: project,
    corsMethods: ['POST', 'DELETE'],
    answersPreflight: true,
  },
  unsubscribe: {
    name: 'unsubscribe',
    method: 'DELETE',
    path: project,
    corsMethods: ['POST', 'DELETE'],
    // One path has one preflight, and subscribe's function answers it for both methods.
    answersPreflight: false,
  },
  send: {
    name: 'send',
    method: 'POST',
    path: `${project}/notifications`,
    answersPreflight: false,
  },
  track: {
    name: 'track',
    method: 'POST',
    path: `${project}/notifications/{notificationId}/events`,
    corsMethods: ['POST'],
    answersPreflight: true,
  },
} as const satisfies { readonly [Name in RouteName]: Route & { readonly name: Name } };

/** A route's path with its parameters filled in, each encoded. */
export function pathOf({ path }: Route, parameters: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name]!));
}
