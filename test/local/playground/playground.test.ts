import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
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
    // Nothing here asks for a notification.
    dynamodb: { endpoint: 'http://localhost:1', tables: {} as TableNames },
    project,
  });
});

afterAll(() => playground.stop());

const own = { host: 'localhost:4000' };

function get(url: string, headers: IncomingHttpHeaders = own, method = 'GET') {
  return playground.answer({ url, method, headers } as IncomingMessage);
}

test.each([
  ['/', 'text/html; charset=utf-8'],
  ['/?opened', 'text/html; charset=utf-8'],
  ['/playground.js', 'text/javascript; charset=utf-8'],
  ['/playground.css', 'text/css; charset=utf-8'],
  ['/carillon.js', 'text/javascript; charset=utf-8'],
  ['/carillon-sw.js', 'text/javascript; charset=utf-8'],
  ['/carillon-sw.js.map', 'application/json'],
])('%s is served as %s', async (url, type) => {
  const page = await get(url);
  expect(page).toMatchObject({ status: 200, headers: { 'content-type': type } });
  expect(page!.body.length).toBeGreaterThan(100);
});

test.each([
  ['/nothing', 'GET'],
  ['/', 'POST'],
  ['/local/nothing', 'GET'],
])('%s by %s is left to the gateway', async (url, method) => {
  expect(await get(url, own, method)).toBeUndefined();
});

test.each<[string, IncomingHttpHeaders]>([
  ['a tool', own],
  ['a tool by the other name', { host: '127.0.0.1:4000' }],
  ['its page', { ...own, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }],
  ['its page, which states its origin', { ...own, origin: 'http://localhost:4000' }],
  ['a person who types the address', { ...own, 'sec-fetch-site': 'none' }],
])('tells %s the demo project', async (_, headers) => {
  const answer = await get('/local/project', headers);
  expect(JSON.parse(answer!.body.toString())).toEqual(project);
});

test.each<[string, IncomingHttpHeaders]>([
  ['under a name of another site', { host: 'evil.example' }],
  ['under a name of another site, with this port', { host: 'evil.example:4000' }],
  ['on another port', { host: 'localhost:4001' }],
  ['without a host', {}],
  ['from a page of another site', { ...own, origin: 'https://evil.example' }],
  ['from a page on another port', { ...own, origin: 'http://localhost:3000' }],
  ['from a page without an origin', { ...own, origin: 'null' }],
  ['by a fetch of another site', { ...own, 'sec-fetch-site': 'cross-site' }],
  ['by a fetch from another port', { ...own, 'sec-fetch-site': 'same-site' }],
  [
    'by a navigation from another site',
    { ...own, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
  ],
])('tells nothing %s', async (_, headers) => {
  for (const url of ['/local/project', '/local/projects/demo/notifications/x', '/local/x']) {
    const answer = await get(url, headers);
    expect(answer!.status).toBe(403);
    expect(answer!.body.toString()).toBe('{"message":"Forbidden"}');
  }
});

const id = '5e0c7b0e-3c3f-4a54-9d53-0f5d9a3c7f10';
test.each([
  ['a project id that is too long', `/local/projects/${'a'.repeat(3000)}/notifications/${id}`],
  ['a malformed project id', `/local/projects/%00/notifications/${id}`],
  ['a notification id that is too long', `/local/projects/demo/notifications/${'b'.repeat(1100)}`],
  ['a malformed notification id', '/local/projects/demo/notifications/x'],
])('answers 404 to %s, without asking the database', async (_, url) => {
  expect(await get(url)).toMatchObject({ status: 404 });
});

test('no other site may read an answer', async () => {
  const { headers } = (await get('/local/project'))!;
  expect(Object.keys(headers)).not.toContain('access-control-allow-origin');
});
