import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { localPaths } from '../../../console/local-stack.ts';
import { type PushService, startPushService } from '../../../local/push-service/push-service.ts';
import { simulatedProxy } from '../../../local/simulated-proxy.ts';
import { demoProject } from '../../../local/start/demo-project.ts';
import { type LocalConsole, openLocalConsole } from '../../../local/start/local-console.ts';
import { type Database, startDatabase } from '../../fixtures/database.ts';

const host = 'localhost:4000';
const baseUrl = `http://${host}`;
let database: Database;
let pushService: PushService;
let localConsole: LocalConsole;
let demo: Awaited<ReturnType<typeof demoProject>>;

beforeAll(async () => {
  database = await startDatabase();
  pushService = await startPushService();
  demo = await demoProject(database, undefined);
  localConsole = await openLocalConsole(process.cwd(), {
    baseUrl,
    pushService,
    project: demo,
    proxy: simulatedProxy(),
    origin: baseUrl,
  });
});

afterAll(async () => {
  localConsole?.stop();
  await pushService?.stop();
  await database.stop();
});

function get(url: string, headers: IncomingHttpHeaders = {}) {
  const request = {
    url,
    method: 'GET',
    headers: { host, ...headers },
    socket: { localPort: 4000 },
  };
  return localConsole.respond(request as IncomingMessage);
}

/** The cookie of a browser that has opened the console's address. */
async function cookie(): Promise<string> {
  const opened = await get(localConsole.address.slice(baseUrl.length));
  return String(opened!.headers['set-cookie']).split(';')[0]!;
}

test('the page is told the demo project and its key', async () => {
  const response = await get(localPaths.session, { cookie: await cookie() });
  const { projectId, secretKey } = demo;
  expect(JSON.parse(response!.body.toString())).toEqual({ projectId, secretKey });
});

test.each([
  ['another site', async () => ({ host: 'evil.example:4000', cookie: await cookie() })],
  [
    'a page of another origin',
    async () => ({ origin: 'https://evil.example', cookie: await cookie() }),
  ],
  ['a browser that has not opened the address', async () => ({})],
  ['a browser with another token', async () => ({ cookie: 'carillon_console_4000=wrong' })],
])('%s is neither told the key, nor adds browsers', async (_, headers) => {
  for (const path of Object.values(localPaths)) {
    const response = await get(path, await headers());
    expect(response!.status).toBe(403);
    expect(response!.body.toString()).not.toContain(demo.secretKey);
  }
});

test.each(['/', 'the printed address'])('%s leads to the page of the console', async (address) => {
  const url = address === '/' ? address : localConsole.address.slice(baseUrl.length);
  const response = await get(url);
  expect(response!.status).toBe(303);
  expect(response!.headers.location).toBe('/console');
  expect(await get('/console')).toBeUndefined();
});

test.each(['/carillon.js', '/carillon.mjs', '/carillon-sw.js', '/carillon-sw.js.map'])(
  'the file %s of the SDK is served',
  async (path) => {
    const file = await get(path);
    expect(file!.status).toBe(200);
    expect(file!.headers['content-type']).toMatch(/javascript|json/);
    // The browser would apply it to the service worker, which must reach the service.
    expect(Object.keys(file!.headers)).not.toContain('content-security-policy');
  },
);
