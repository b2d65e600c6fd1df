import { matchRoute } from '../../../local/gateway/match-route.ts';
import type { GatewayRoute } from '../../../local/template/routes.ts';

const routes = ['GET /things/{id}', 'GET /things/all', 'DELETE /things/{id}'].map(
  (routeKey): GatewayRoute => {
    const [method = '', path = ''] = routeKey.split(' ');
    return {
      routeKey,
      method,
      segments: path.split('/').slice(1),
      functionName: 'Function',
      timeoutMs: 30_000,
      throttle: { ratePerSecond: 10_000, burst: 5000 },
    };
  },
);

function match(method: string, path: string) {
  const found = matchRoute(routes, method, path);
  return found && [found.route.routeKey, found.parameters];
}

test('matches the method and extracts the parameters', () => {
  expect(match('DELETE', '/things/a b')).toEqual(['DELETE /things/{id}', { id: 'a b' }]);
});

test('prefers a path without parameters', () => {
  expect(match('GET', '/things/all')).toEqual(['GET /things/all', {}]);
});

test.each([
  ['another method', 'PUT', '/things/1'],
  ['an empty parameter', 'GET', '/things/'],
  ['a longer path', 'GET', '/things/1/'],
  ['another case', 'GET', '/Things/1'],
])('finds nothing for %s', (_, method, path) => {
  expect(match(method, path)).toBeUndefined();
});
