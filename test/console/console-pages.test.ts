import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { localHosts } from '../../console/allowed-request.ts';
import { type ConsolePages, consolePages } from '../../console/console-pages.ts';
import { settingsPath } from '../../console/settings.ts';
import { routes } from '../../contract/routes.ts';

const settings = { baseUrl: 'http://localhost:4000', local: true, projects: [] };
let pages: ConsolePages;

beforeAll(async () => {
  pages = await consolePages({
    root: process.cwd(),
    hosts: localHosts(4000),
    settings: async () => settings,
  });
});

const host = { host: 'localhost:4000' };

function get(url: string, headers: IncomingHttpHeaders = host, method = 'GET') {
  return pages({ url, method, headers } as IncomingMessage);
}

test.each([
  ['/', 'text/html; charset=utf-8'],
  ['/?opened', 'text/html; charset=utf-8'],
  ['/console.js', 'text/javascript; charset=utf-8'],
  ['/console.css', 'text/css; charset=utf-8'],
  ['/bell.svg', 'image/svg+xml'],
  ['/openapi.json', 'application/json'],
  ['/docs', 'text/html; charset=utf-8'],
])('%s is served as %s', async (url, type) => {
  const page = await get(url);
  expect(page).toMatchObject({ status: 200, headers: { 'content-type': type } });
  expect(page!.body.length).toBeGreaterThan(100);
});

test('the page may call its own origin only, and no site may show it in a frame', async () => {
  const { headers } = (await get('/'))!;
  const policy = headers['content-security-policy']!.split('; ');
  expect(policy).toEqual(
    expect.arrayContaining([
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
    ]),
  );
  expect(policy.join()).not.toContain('unsafe');
});

test('the reference page has every operation, and may load nothing from other hosts', async () => {
  const { headers, body } = (await get('/docs'))!;
  for (const { name } of Object.values(routes)) expect(body.toString()).toContain(`"${name}"`);
  expect(headers['content-security-policy']).toContain("default-src 'none'");
});

test.each([
  ['/nothing', 'GET'],
  ['/', 'POST'],
  ['/console/nothing', 'GET'],
])('the console does not handle %s with %s', async (url, method) => {
  expect(await get(url, host, method)).toBeUndefined();
});

test.each<[string, IncomingHttpHeaders]>([
  ['a tool', host],
  ['a tool that uses 127.0.0.1', { host: '127.0.0.1:4000' }],
  ['its page', { ...host, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }],
  ['its page with an Origin header', { ...host, origin: 'http://localhost:4000' }],
  ['the address bar', { ...host, 'sec-fetch-site': 'none' }],
])('the settings are returned to %s', async (_, headers) => {
  const response = await get(settingsPath, headers);
  expect(JSON.parse(response!.body.toString())).toEqual(settings);
  expect(Object.keys(response!.headers)).not.toContain('access-control-allow-origin');
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
])('the settings are refused to a request %s', async (_, headers) => {
  const response = await get(settingsPath, headers);
  expect(response!.status).toBe(403);
  expect(response!.body.toString()).toBe('{"message":"Forbidden"}');
});
