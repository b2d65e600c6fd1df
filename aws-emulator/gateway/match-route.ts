import type { GatewayRoute } from '../routes.ts';

export interface RouteMatch {
  readonly route: GatewayRoute;
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * Finds the route of a request. If several match, it returns the one with the fewest parameters.
 * @param path decoded.
 */
export function matchRoute(
  routes: readonly GatewayRoute[],
  method: string,
  path: string,
): RouteMatch | undefined {
  const segments = path.split('/').slice(1);
  const matches = routes.flatMap((route) => {
    if (route.method !== method || route.segments.length !== segments.length) return [];
    const parameters: Record<string, string> = {};
    for (const [index, expected] of route.segments.entries()) {
      const actual = segments[index] ?? '';
      const name = /^\{(.+)\}$/.exec(expected)?.[1];
      if (name === undefined ? actual !== expected : actual === '') return [];
      if (name !== undefined) parameters[name] = actual;
    }
    return [{ route, parameters }];
  });
  const count = ({ parameters }: RouteMatch) => Object.keys(parameters).length;
  return matches.sort((one, other) => count(one) - count(other))[0];
}
