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

test('a line has the method, the route’s path, the status and the duration', () => {
  const line = lineOf(routes.send, { projectId: 'demo' });
  expect(requestLine(line)).toBe('POST /api/v1/projects/demo/notifications → 200  12 ms');
});

test('a path contains the project id and no other id', () => {
  const line = lineOf(routes.track, { projectId: 'demo', notificationId: 'a-capability' });
  expect(requestLine(line)).toContain(
    ' /api/v1/projects/demo/notifications/{notificationId}/events ',
  );
});

test('a secret key instead of a project id is left out', () => {
  const line = lineOf(routes.subscribe, { projectId: secretKey });
  expect(requestLine(line)).toContain(' /api/v1/projects/{projectId} ');
});

test('the path of a request without a route is left out', () => {
  const line = { method: 'GET', match: undefined, status: 404, durationMs: 0 };
  expect(requestLine(line)).toBe('GET (no route) → 404  0 ms');
});
