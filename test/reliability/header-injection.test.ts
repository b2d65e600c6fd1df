import { type RouteName, routes } from '../../contract/routes.ts';
import { notificationRoutes } from '../fixtures/route-names.ts';
import {
  type CallOptions,
  type ProjectCredentials,
  type Service,
  startService,
} from '../fixtures/service.ts';
import { pushHeaders } from './fixtures/push-headers.ts';
import { routesWithBody, validBody } from './fixtures/valid-body.ts';

let service: Service;
let project: ProjectCredentials;
let notificationId: string;

beforeAll(async () => {
  service = await startService({ concurrency: 2 });
  project = await service.createProject();
  notificationId = (await service.send(project, { title: 'T' })).body.id;
});
afterAll(() => service.stop());

function call(name: RouteName, request: Partial<CallOptions>) {
  return service.call(routes[name], {
    parameters: { projectId: project.projectId, notificationId },
    ...request,
    headers: { authorization: `Bearer ${project.secretKey}`, ...request.headers },
  });
}

describe('a line break in a request reaches no header of a response or a push', () => {
  const injection = 'x\r\nX-Injected: injected\r\n\r\ninjected';
  const encoded = encodeURIComponent(injection);
  const cases: [string, RouteName, () => Partial<CallOptions>][] = [
    [
      'endpoint',
      'subscribe',
      () => ({ body: { ...validBody(service, 'subscribe'), endpoint: injection } }),
    ],
    [
      'endpoint of a push service',
      'subscribe',
      () => ({
        body: {
          ...validBody(service, 'subscribe'),
          endpoint: `${service.stack.pushService.origin}/push/${injection}`,
        },
      }),
    ],
    ...['p256dh', 'auth'].map((key): (typeof cases)[number] => [
      key,
      'subscribe',
      () => {
        const { endpoint, keys } = service.stack.pushService.subscribe().toJSON();
        return { body: { endpoint, keys: { ...keys, [key]: injection } } };
      },
    ]),
    [
      'userId',
      'subscribe',
      () => ({ body: { ...validBody(service, 'subscribe'), userId: injection } }),
    ],
    ['endpoint', 'unsubscribe', () => ({ query: `?endpoint=${encoded}` })],
    [
      'endpoint of a push service',
      'unsubscribe',
      () => ({ query: `?endpoint=https://fcm.googleapis.com/${encoded}` }),
    ],
    ...['title', 'body', 'url', 'icon', 'image', 'badge'].map((field): (typeof cases)[number] => [
      field,
      'send',
      () => ({ body: { title: 'T', [field]: injection } }),
    ]),
    ...['url', 'icon', 'image', 'badge'].map((field): (typeof cases)[number] => [
      `${field} with an https URL`,
      'send',
      () => ({ body: { title: 'T', [field]: `https://example.com/${injection}` } }),
    ]),
    ['userIds', 'send', () => ({ body: { title: 'T', userIds: [injection] } })],
    ['type', 'track', () => ({ body: { type: injection } })],
    ...Object.values(routes).flatMap(({ name }): typeof cases => [
      ['projectId', name, () => ({ parameters: { projectId: injection, notificationId } })],
      ['query', name, () => ({ query: `?${encoded}=${encoded}` })],
      ['content type', name, () => ({ headers: { 'content-type': 'injected/x' } })],
      ['origin', name, () => ({ headers: { origin: 'https://injected.example' } })],
      ['host', name, () => ({ headers: { 'x-forwarded-host': 'injected.example' } })],
      [
        'preflight',
        name,
        () => ({
          headers: {
            'access-control-request-method': 'injected',
            'access-control-request-headers': 'injected',
          },
        }),
      ],
      ['request id', name, () => ({ headers: { 'x-amzn-trace-id': 'injected' } })],
    ]),
    ...notificationRoutes.map((name): (typeof cases)[number] => [
      'notificationId',
      name,
      () => ({ parameters: { projectId: project.projectId, notificationId: injection } }),
    ]),
    ...(['getUser', 'removeUser'] as const).map((name): (typeof cases)[number] => [
      'userId',
      name,
      () => ({ query: `?userId=${encoded}` }),
    ]),
    ...['limit', 'cursor'].map((parameter): (typeof cases)[number] => [
      parameter,
      'listNotifications',
      () => ({ query: `?${parameter}=${encoded}` }),
    ]),
    ['tally', 'track', () => ({ query: `?tally=${encoded}` })],
    ['idempotency key', 'send', () => ({ headers: { 'idempotency-key': 'injected' } })],
  ];

  test.each(cases)('%s at %s', async (_, name, request) => {
    const browser = await service.subscribe(project, 'u');
    const withBody = routesWithBody.find((one) => one === name);
    const body = withBody && validBody(service, withBody);
    const { status, headers } = await call(name, { ...(body && { body }), ...request() });
    expect(status).toBeLessThan(500);
    for (const [header, value] of headers) {
      expect(responseHeaders).toContain(header);
      expect(value).not.toMatch(/injected/i);
    }
    await service.send(project, { title: 'T', userIds: ['u'] });
    for (const { headers: pushed } of browser.messages) {
      expect(new Set(Object.keys(pushed))).toEqual(pushHeaders);
      expect(Object.values(pushed).join()).not.toMatch(/injected/i);
    }
    expect(browser.messages.length).toBeGreaterThan(0);
  });
});

/** The headers that a response may have. */
const responseHeaders = [
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'access-control-max-age',
  'apigw-requestid',
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'retry-after',
  'vary',
  'www-authenticate',
];
