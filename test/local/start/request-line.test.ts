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
  return { method: route.method, match, status: 200, milliseconds: 11.6 };
}

test('a line has the method, the path of the route, the status and the time', () => {
  const line = lineOf(routes.send, { projectId: 'demo' });
  expect(requestLine(line)).toBe('POST /api/v1/projects/demo/notifications → 200  12 ms');
});

test('the status is coloured by its class', () => {
  const line = { ...lineOf(routes.send, { projectId: 'demo' }), status: 503 };
  expect(requestLine(line, (format, text) => `<${format}>${text}`)).toContain('→ <red>503');
});

test('of a path it has the project’s id and no other', () => {
  const line = lineOf(routes.track, { projectId: 'demo', notificationId: 'a-capability' });
  expect(requestLine(line)).toContain(
    ' /api/v1/projects/demo/notifications/{notificationId}/events ',
  );
});

test('a secret key in the place of a project’s id is left out', () => {
  const line = lineOf(routes.subscribe, { projectId: secretKey });
  expect(requestLine(line)).toContain(' /api/v1/projects/{projectId} ');
});

test('a request for no route is told without its address', () => {
  const line = { method: 'GET', match: undefined, status: 404, milliseconds: 0 };
  expect(requestLine(line)).toBe('GET (no route) → 404  0 ms');
});
