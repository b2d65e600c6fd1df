import { randomUUID } from 'node:crypto';
import { type Route, type RouteName, routes } from '../../contract/wire/routes.ts';
import { type CallOptions, type ProjectCredentials, useService } from '../fixtures/service.ts';
import { documentedNames } from './fixtures/documented-request.ts';
import { setField } from './fixtures/mutation.ts';
import { pushHeaders } from './fixtures/push-headers.ts';
import { type RouteWithBody, routesWithBody, validBody } from './fixtures/valid-body.ts';

let project: ProjectCredentials;
let notificationId: string;

const service = useService({ concurrency: 2 });
beforeAll(async () => {
  project = await service.createProject();
  notificationId = (await service.send(project, { title: 'T' })).body.id;
});

function call(name: RouteName, request: Partial<CallOptions>) {
  return service.call(routes[name], {
    parameters: { projectId: project.projectId, notificationId },
    ...request,
    headers: { authorization: `Bearer ${project.secretKey}`, ...request.headers },
  });
}

const injection = 'x\r\nX-Injected: injected\r\n\r\ninjected';
const encoded = encodeURIComponent(injection);

/** Headers that a client adds. */
const clientHeaders = [
  ...['content-type', 'origin', 'x-forwarded-host', 'x-amzn-trace-id'],
  ...['access-control-request-method', 'access-control-request-headers'],
];

type Case = [place: string, route: RouteName, request: () => Partial<CallOptions>];

const cases = Object.values<Route>(routes).flatMap((route): Case[] => {
  const { query, headers, fields } = documentedNames(route);
  const path = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const texts = (): readonly string[] => [
    injection,
    `https://example.com/${injection}`,
    `${service.stack.pushService.origin}/push/${injection}`,
  ];
  const cases: [string, () => Partial<CallOptions>][] = [
    ...fields.flatMap((field) =>
      [0, 1, 2].map((text): (typeof cases)[number] => [
        `${field}, text ${text}`,
        () => ({ body: bodyWith(route.name, field, texts()[text]!) }),
      ]),
    ),
    ...path.map((name): (typeof cases)[number] => [
      name,
      () => ({ parameters: { projectId: project.projectId, notificationId, [name]: injection } }),
    ]),
    ...[...query, encoded].map((name): (typeof cases)[number] => [
      `?${name}`,
      () => ({ query: `?${name}=${encoded}` }),
    ]),
    ...[...headers, ...clientHeaders].map((name): (typeof cases)[number] => [
      name,
      () => ({ headers: { [name]: 'injected/x' } }),
    ]),
  ];
  return cases.map(([place, request]) => [place, route.name, request]);
});

function bodyWith(name: RouteName, field: string, value: string): Buffer {
  const valid = validBody(service, name as RouteWithBody);
  return setField(Buffer.from(JSON.stringify(valid)), field.split('.'), value);
}

describe('a line break in a request reaches no header of a response or a push', () => {
  test.each(cases)('%s at %s', async (_, name, request) => {
    // One of its own: a user's 101st browser gets nothing.
    const userId = randomUUID();
    const browser = await service.subscribe(project, userId);
    const withBody = routesWithBody.find((one) => one === name);
    const body = withBody && validBody(service, withBody);
    const { status, headers } = await call(name, { ...(body && { body }), ...request() });
    expect(status).toBeLessThan(500);
    for (const [header, value] of headers) {
      expect(responseHeaders).toContain(header);
      expect(value).not.toMatch(/injected/i);
    }
    await service.send(project, { title: 'T', userIds: [userId] });
    for (const { headers: pushed } of browser.messages) {
      const others = Object.keys(pushed).filter((header) => !pushHeaders.has(header));
      expect(others.filter((header) => header !== 'topic')).toEqual([]);
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
  'strict-transport-security',
  'vary',
  'www-authenticate',
  'x-content-type-options',
];
