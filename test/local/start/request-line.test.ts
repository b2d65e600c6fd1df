import { type Route, routes } from '../../../contract/routes.ts';
import type { AccessLine } from '../../../local/gateway/gateway.ts';
import { requestLine } from '../../../local/start/request-line.ts';
import type { GatewayRoute } from '../../../local/template/routes.ts';

const secretKey = `carillon_sk_${'A1b2'.repeat(11).slice(1)}`;

function lineOf(route: Route, parameters: Record<string, string>): AccessLine {
  const match = {
    route: {
      routeKey: `${route.method} ${route.path}`,
      method: route.method,
      segments: route.path.split('/').slice(1),
    } as unknown as GatewayRoute,
    parameters,
  };
  return { method: route.method, match, status: 200, durationMs: 11.6, isFromPage: false };
}

test.each<[what: string, Route, Record<string, string>, path: string]>([
  ['the project id', routes.send, { projectId: 'demo' }, '/projects/demo/notifications'],
  [
    'no other id',
    routes.track,
    { projectId: 'demo', notificationId: 'a-capability' },
    '/projects/demo/notifications/{notificationId}/events',
  ],
  ['no secret key', routes.subscribe, { projectId: secretKey }, '/projects/{projectId}'],
])('a line has the route’s path with %s', (_, route, parameters, path) => {
  expect(requestLine(lineOf(route, parameters))).toBe(`POST /api/v1${path} → 200  12 ms`);
});

test('the path of a request without a route is left out', () => {
  const line = { method: 'GET', match: undefined, status: 404, durationMs: 0 };
  expect(requestLine(line)).toBe('GET (no route) → 404  0 ms');
});
