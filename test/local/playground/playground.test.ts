import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { routes } from '../../../contract/routes.ts';
import type { TableNames } from '../../../local/dynamodb/table-names.ts';
import { openPlayground, type Playground } from '../../../local/playground/playground.ts';

const project = {
  projectId: 'demo',
  applicationServerKey: 'BNbx',
  secretApiKey: 'carillon_sk_secret',
};
let playground: Playground;

beforeAll(async () => {
  playground = await openPlayground(process.cwd(), {
    baseUrl: 'http://localhost:4000',
    // No test reads a notification from the database.
    dynamodb: { endpoint: 'http://localhost:1', tables: {} as TableNames },
    project,
  });
});

afterAll(() => playground.stop());

const host = { host: 'localhost:4000' };

function get(url: string, headers: IncomingHttpHeaders = host, method = 'GET') {
  return playground.respond({ url, method, headers } as IncomingMessage);
}

test.each([
  ['/', 'text/html; charset=utf-8'],
  ['/?opened', 'text/html; charset=utf-8'],
  ['/playground.js', 'text/javascript; charset=utf-8'],
  ['/playground.css', 'text/css; charset=utf-8'],
  ['/carillon.js', 'text/javascript; charset=utf-8'],
  ['/carillon-sw.js', 'text/javascript; charset=utf-8'],
  ['/carillon-sw.js.map', 'application/json'],
  ['/openapi.json', 'application/json'],
  ['/docs', 'text/html; charset=utf-8'],
])('%s is served as %s', async (url, type) => {
  const page = await get(url);
  expect(page).toMatchObject({ status: 200, headers: { 'content-type': type } });
  expect(page!.body.length).toBeGreaterThan(100);
});

test('the reference page has every operation, and may load nothing from other hosts', async () => {
  const { headers, body } = (await get('/docs'))!;
  for (const { name } of Object.values(routes)) expect(body.toString()).toContain(`"${name}"`);
  expect(headers['content-security-policy']).toContain("default-src 'none'");
});

test.each([
  ['/nothing', 'GET'],
  ['/', 'POST'],
  ['/local/nothing', 'GET'],
])('the playground does not handle %s with %s', async (url, method) => {
  expect(await get(url, host, method)).toBeUndefined();
});

test.each<[string, IncomingHttpHeaders]>([
  ['a tool', host],
  ['a tool that uses 127.0.0.1', { host: '127.0.0.1:4000' }],
  ['its page', { ...host, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }],
  ['its page with an Origin header', { ...host, origin: 'http://localhost:4000' }],
  ['the address bar', { ...host, 'sec-fetch-site': 'none' }],
])('/local/project returns the demo project to %s', async (_, headers) => {
  const response = await get('/local/project', headers);
  expect(JSON.parse(response!.body.toString())).toEqual(project);
});

test.each<[string, IncomingHttpHeaders]>([
  ['to another host', { host: 'evil.example' }],
  ['to another host on this port', { host: 'evil.example:4000' }],
  ['to another port', { host: 'localhost:4001' }],
  ['without a host', {}],
  ['from a page of another site', { ...host, origin: 'https://evil.example' }],
  ['from a page on another port', { ...host, origin: 'http://localhost:3000' }],
  ['from a page with an opaque origin', { ...host, origin: 'null' }],
  ['by a fetch from another site', { ...host, 'sec-fetch-site': 'cross-site' }],
  ['by a fetch from another port', { ...host, 'sec-fetch-site': 'same-site' }],
  [
    'by a navigation from another site',
    { ...host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
  ],
])('refuses a request %s', async (_, headers) => {
  for (const url of ['/local/project', '/local/projects/demo/notifications/x', '/local/x']) {
    const response = await get(url, headers);
    expect(response!.status).toBe(403);
    expect(response!.body.toString()).toBe('{"message":"Forbidden"}');
  }
});

const id = '5e0c7b0e-3c3f-4a54-9d53-0f5d9a3c7f10';
test.each([
  ['a project id that is too long', `/local/projects/${'a'.repeat(3000)}/notifications/${id}`],
  ['a malformed project id', `/local/projects/%00/notifications/${id}`],
  ['a notification id that is too long', `/local/projects/demo/notifications/${'b'.repeat(1100)}`],
  ['a malformed notification id', '/local/projects/demo/notifications/x'],
])('returns 404 for %s without a database call', async (_, url) => {
  expect(await get(url)).toMatchObject({ status: 404 });
});

test('responses have no CORS headers', async () => {
  const { headers } = (await get('/local/project'))!;
  expect(Object.keys(headers)).not.toContain('access-control-allow-origin');
});
