import { once } from 'node:events';
import { copyFileSync, symlinkSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { type ConsoleServer, startConsoleServer } from '../../console/console-server.ts';
import { settingsPath } from '../../console/settings.ts';
import { pathOf, routes } from '../../contract/routes.ts';
import { temporaryFolder } from '../fixtures/folder.ts';
import { freePort } from '../fixtures/ports.ts';
import { ownerRoutes } from '../fixtures/route-names.ts';
import { until } from '../fixtures/until.ts';

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** What the service received, in order. */
const received: Received[] = [];
let respond: (response: ServerResponse) => void;
const service = createServer(async (message, response) => {
  const { method = '', url = '', headers } = message;
  received.push({ method, url, headers, body: await text(message) });
  respond(response);
});
let baseUrl: string;
let server: ConsoleServer;

beforeAll(async () => {
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  baseUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  server = await startConsoleServer({ root: process.cwd(), baseUrl, port: 0 });
});

beforeEach(() => {
  received.length = 0;
  respond = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
});

afterAll(async () => {
  await server.stop();
  service.closeAllConnections();
  service.close();
});

interface Call {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Sends exactly these headers: `fetch` refuses some. */
async function call({ method = 'GET', path, headers, body }: Call): Promise<IncomingMessage> {
  const { port } = new URL(server.origin);
  const host = { host: `localhost:${port}` };
  const sent = request({
    ...{ host: '127.0.0.1', port, method, path },
    headers: { ...host, ...headers },
  });
  sent.end(body);
  const [response] = await once(sent, 'response');
  return response;
}

const ids = { projectId: 'my-site', notificationId: '5e0c7b0e-3c3f-4a54-9d53-0f5d9a3c7f10' };

test.each(ownerRoutes.map((name) => routes[name]))(
  '$name is forwarded with its query and its headers',
  async (route) => {
    const path = `${pathOf(route, ids)}?userId=a%2Fb`;
    const headers = { authorization: 'Bearer key', cookie: 'a=b', 'x-other': '1' };
    const response = await call({ method: route.method, path, headers });
    expect(response.statusCode).toBe(200);
    expect(await json(response)).toEqual({});
    expect(received).toMatchObject([
      { method: route.method, url: path, headers: { authorization: 'Bearer key' } },
    ]);
    expect(Object.keys(received[0]!.headers)).not.toContain('cookie');
    expect(Object.keys(received[0]!.headers)).not.toContain('x-other');
  },
);

test('a send is forwarded with its body, its idempotency key and its preference', async () => {
  const headers = {
    'content-type': 'application/json',
    'idempotency-key': 'k',
    prefer: 'respond-async',
  };
  await call({ method: 'POST', path: pathOf(routes.send, ids), headers, body: '{"title":"é"}' });
  expect(received).toMatchObject([{ headers, body: '{"title":"é"}' }]);
});

test.each([
  ['subscribe, which browsers call', 'POST', pathOf(routes.subscribe, ids)],
  ['unsubscribe, which browsers call', 'DELETE', pathOf(routes.unsubscribe, ids)],
  ['track, which browsers call', 'POST', pathOf(routes.track, ids)],
  ['an unknown method', 'PUT', pathOf(routes.send, ids)],
  ['a preflight', 'OPTIONS', pathOf(routes.send, ids)],
  ['an unknown path', 'GET', '/api/v1/projects'],
  ['a path above the route', 'GET', '/api/v1/projects/..'],
  ['an encoded path', 'GET', '/api/v1/projects/my-site%2F..%2F..%2Fother'],
  ['another host', 'GET', '//evil.example/api/v1/projects/my-site'],
  ['another host by an absolute URL', 'GET', 'http://evil.example/api/v1/projects/my-site'],
])('%s is not forwarded', async (_, method, path) => {
  const response = await call({ method, path });
  expect(response.statusCode).toBe(404);
  response.resume();
  expect(received).toEqual([]);
});

test.each<[string, Record<string, string>]>([
  ['to another host (DNS rebinding)', { host: 'evil.example' }],
  ['from a page of another site', { origin: 'https://evil.example' }],
  ['by a fetch from another site', { 'sec-fetch-site': 'cross-site' }],
])('nothing is served or forwarded to a request %s', async (_, headers) => {
  for (const path of ['/', '/console.js', settingsPath, pathOf(routes.getProject, ids)]) {
    const response = await call({ path, headers });
    expect(response.statusCode).toBe(403);
    response.resume();
  }
  expect(received).toEqual([]);
});

test("the service's errors arrive with their status, body and Retry-After", async () => {
  const error = { error: { code: 'rate_limited', message: 'Wait.' } };
  respond = (response) => {
    const headers = { 'content-type': 'application/json', 'retry-after': '7', 'set-cookie': 'a=b' };
    response.writeHead(429, headers).end(JSON.stringify(error));
  };
  const response = await call({ path: pathOf(routes.getProject, ids) });
  expect(response.statusCode).toBe(429);
  expect(response.headers).toMatchObject({ 'retry-after': '7', 'cache-control': 'no-store' });
  expect(Object.keys(response.headers)).not.toContain('set-cookie');
  expect(await json(response)).toEqual(error);
});

test.each([
  ['a page', 200, 'text/html', '<script>alert(1)</script>'],
  ['a page of a proxy', 403, 'text/html; charset=utf-8', '<h1>Forbidden</h1>'],
  ['a script', 200, 'text/javascript', 'alert(1)'],
  ['a type like JSON', 200, 'application/jsonp', 'alert(1)'],
  ['text without a type', 200, undefined, '<script>alert(1)</script>'],
])(
  '%s in place of the service arrives as a status without a body',
  async (_, status, type, body) => {
    respond = (response) =>
      response.writeHead(status, type === undefined ? {} : { 'content-type': type }).end(body);
    const response = await call({ path: pathOf(routes.getProject, ids) });
    expect(response.statusCode).toBe(status);
    expect(Object.keys(response.headers)).not.toContain('content-type');
    expect(response.headers).toMatchObject({ 'x-content-type-options': 'nosniff' });
    expect(await text(response)).toBe('');
  },
);

test.each(['application/json', 'Application/JSON; charset=utf-8'])(
  'a response of the type %s arrives as JSON that no browser takes for a page',
  async (type) => {
    respond = (response) => response.writeHead(200, { 'content-type': type }).end('{"a":"<b>"}');
    const response = await call({ path: pathOf(routes.getProject, ids) });
    expect(response.headers).toMatchObject({
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
    });
    expect(await json(response)).toEqual({ a: '<b>' });
  },
);

test('a response that is not JSON is not read to its end', async () => {
  const ended = new Promise<void>((resolve) => {
    respond = (response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).write('<html>');
      response.once('close', resolve);
    };
  });
  expect(await text(await call({ path: pathOf(routes.getProject, ids) }))).toBe('');
  await ended;
});

test('a response is streamed: its start arrives before its end', async () => {
  let end!: () => void;
  respond = (response) => {
    response.writeHead(500, { 'content-type': 'application/json' });
    response.write('{"error":');
    end = () => response.end('{}}');
  };
  const response = await call({ path: pathOf(routes.getProject, ids) });
  const [start] = await once(response, 'data');
  expect(String(start)).toBe('{"error":');
  end();
  expect(await text(response)).toBe('{}}');
});

test('a redirect is not followed: the key would follow', async () => {
  respond = (response) => response.writeHead(307, { location: 'https://evil.example' }).end();
  const response = await call({ path: pathOf(routes.getProject, ids) });
  response.resume();
  expect(response.statusCode).toBe(307);
  expect(Object.keys(response.headers)).not.toContain('location');
  expect(received).toHaveLength(1);
});

test('a service that cannot be reached is a 502 with what to check', async () => {
  const unused = `http://127.0.0.1:${await freePort()}`;
  const unreachable = await startConsoleServer({
    root: process.cwd(),
    baseUrl: unused,
    port: 0,
  });
  try {
    const response = await fetch(unreachable.origin + pathOf(routes.getProject, ids));
    expect(response.status).toBe(502);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await response.json()).toEqual({
      error: {
        code: 'service_unreachable',
        message: expect.stringContaining(`${unused} cannot be reached (ECONNREFUSED).`),
      },
    });
  } finally {
    await unreachable.stop();
  }
});

test('the page is told the address of the service, and that it is not local', async () => {
  const response = await call({ path: settingsPath });
  expect(await json(response)).toEqual({ baseUrl, local: false, projects: [] });
});

test('a request that arrives during the start gets the page', async () => {
  const port = await freePort();
  const starting = startConsoleServer({ root: process.cwd(), baseUrl, port });
  // The first attempts may come before the server listens.
  const response = await until('a response', () =>
    fetch(`http://127.0.0.1:${port}/`).catch(() => undefined),
  );
  expect(response.status).toBe(200);
  await (await starting).stop();
});

test('a reference page that cannot be made is a 500 with the reason, and is tried again', async () => {
  const folder = temporaryFolder();
  for (const name of ['console', 'node_modules', 'redocly.yaml']) {
    symlinkSync(join(process.cwd(), name), join(folder.path, name));
  }
  folder.write('openapi.json', '{');
  const { origin, stop } = await startConsoleServer({ root: folder.path, baseUrl, port: 0 });
  try {
    const failed = await fetch(`${origin}/docs`);
    expect(failed.status).toBe(500);
    expect(await failed.json()).toEqual({
      message: expect.stringMatching(/^The reference page cannot be made from openapi\.json: ./),
    });
    copyFileSync('openapi.json', join(folder.path, 'openapi.json'));
    expect((await fetch(`${origin}/docs`)).status).toBe(200);
  } finally {
    await stop();
    folder.remove();
  }
});

test('the server does not start without its page, and frees its port', async () => {
  const folder = temporaryFolder();
  const port = await freePort();
  await expect(startConsoleServer({ root: folder.path, baseUrl, port })).rejects.toThrow(
    'Could not resolve',
  );
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow('fetch failed');
  folder.remove();
});

test('the address of the server is the one that it listens on', async () => {
  expect(server.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
});

test('the server listens on 127.0.0.1 only', async () => {
  const { port } = new URL(server.origin);
  await expect(fetch(`http://127.0.0.1:${port}/bell.svg`)).resolves.toMatchObject({ status: 200 });
  // Another address of this machine.
  await expect(fetch(`http://127.0.0.2:${port}/bell.svg`)).rejects.toThrow('fetch failed');
});
