import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type ConsolePages, consolePages } from '../../console/console-pages.ts';
import { settingsPath } from '../../console/settings.ts';
import { routes } from '../../contract/routes.ts';

const settings = { baseUrl: 'http://localhost:4000', local: true, projects: [] };
let pages: ConsolePages;

beforeAll(async () => {
  pages = await consolePages({
    root: process.cwd(),
    settings: async () => settings,
  });
});

const host = { host: 'localhost:4000' };

function get(url: string, headers: IncomingHttpHeaders = host, method = 'GET') {
  return pages({ url, method, headers, socket: { localPort: 4000 } } as IncomingMessage);
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

test('the settings are returned to the page, and to no page of another origin', async () => {
  const response = await get(settingsPath);
  expect(JSON.parse(response!.body.toString())).toEqual(settings);
  expect(Object.keys(response!.headers)).not.toContain('access-control-allow-origin');

  const refused = await get(settingsPath, { ...host, origin: 'https://evil.example' });
  expect(refused!.status).toBe(403);
  expect(refused!.body.toString()).toContain('no page of another origin');
});
