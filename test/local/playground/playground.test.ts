import type { IncomingMessage } from 'node:http';
import { openPlayground, type Playground } from '../../../local/playground/playground.ts';
import type { TableNames } from '../../../local/table-names.ts';

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

function get(url: string, host = 'localhost:4000', method = 'GET') {
  return playground.answer({ url, method, headers: { host } } as IncomingMessage);
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
  expect(await get(url, 'localhost:4000', method)).toBeUndefined();
});

test.each(['localhost:4000', '127.0.0.1:4000'])('the demo project is told on %s', async (host) => {
  const answer = await get('/local/project', host);
  expect(JSON.parse(answer!.body.toString())).toEqual(project);
});

test.each(['evil.example', 'evil.example:4000', 'localhost:4001', ''])(
  'a page that calls this machine "%s" is told nothing',
  async (host) => {
    const answer = await get('/local/project', host);
    expect(answer!.status).toBe(403);
    expect(answer!.body.toString()).not.toContain(project.secretApiKey);
  },
);

test('no other site may read an answer', async () => {
  const { headers } = (await get('/local/project'))!;
  expect(Object.keys(headers)).not.toContain('access-control-allow-origin');
});
