import { type RouteName, routes } from '../../contract/routes.ts';
import { browserRoutes, ownerRoutes } from '../fixtures/route-names.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';
import { callWithValidRequest } from '../fixtures/valid-request.ts';

let service: Service;
let project: ProjectCredentials;
let notificationId: string;

beforeAll(async () => {
  service = await startService();
  project = await service.createProject();
  notificationId = (await service.send(project, { title: 'T' })).body.id;
});
afterAll(() => service.stop());

const origin = 'https://shop.example.com';

function call(name: RouteName, parameters: Record<string, string> = {}) {
  return callWithValidRequest(service, project, name, {
    parameters: { notificationId, ...parameters },
    headers: { origin },
  });
}

function preflight(name: RouteName) {
  return service.call(
    { ...routes[name], method: 'OPTIONS' as 'POST' },
    {
      parameters: { projectId: project.projectId, notificationId },
      headers: { origin, 'access-control-request-method': routes[name].method },
    },
  );
}

test.each([
  ['subscribe', 201],
  ['unsubscribe', 200],
  ['track', 200],
] as const)('%s allows all origins to read responses and errors', async (name, status) => {
  const accepted = await call(name);
  const refused = await call(name, { projectId: 'no-such-project' });
  expect([accepted.status, refused.status]).toEqual([status, 404]);
  for (const { headers } of [accepted, refused]) {
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-expose-headers')).toBe('Retry-After');
  }
});

test.each([
  ['subscribe', 'POST, DELETE'],
  ['unsubscribe', 'POST, DELETE'],
  ['track', 'POST'],
] as const)(
  'the preflight of %s allows %s with a JSON body, for two hours',
  async (name, methods) => {
    const { status, headers, body } = await preflight(name);
    expect(status).toBe(204);
    expect(body).toBeUndefined();
    expect(Object.fromEntries(headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': methods,
      'access-control-allow-headers': 'Content-Type',
      'access-control-max-age': '7200',
    });
  },
);

test('browsers may call only what needs no secret key', () => {
  expect(browserRoutes).toEqual(['subscribe', 'unsubscribe', 'track']);
});

// The preflight of getProject's path is that of subscribe.
test.each(ownerRoutes.filter((name) => name !== 'getProject'))(
  '%s allows no origin',
  async (name) => {
    const refused = await preflight(name);
    expect(refused.status).toBe(404);
    for (const { headers } of [refused, await call(name)]) {
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
  },
);

test('getProject allows no origin, and the preflight of its path allows no secret key', async () => {
  const { headers } = await call('getProject');
  expect(headers.get('access-control-allow-origin')).toBeNull();
  const { headers: preflightHeaders } = await preflight('getProject');
  expect(preflightHeaders.get('access-control-allow-methods')).toBe('POST, DELETE');
  expect(preflightHeaders.get('access-control-allow-headers')).toBe('Content-Type');
});
