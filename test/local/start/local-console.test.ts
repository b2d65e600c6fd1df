import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type ConsoleSettings, settingsPath } from '../../../console/settings.ts';
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
    dynamodb: database,
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
  return opened!.headers['set-cookie']!.split(';')[0]!;
}

test('the page is told the projects of the stack: the demo project, with its key, is the first', async () => {
  const { projectId: other } = await database.createProject();
  const response = await get(settingsPath, { cookie: await cookie() });
  const settings = JSON.parse(response!.body.toString()) as ConsoleSettings;
  expect(settings).toEqual({
    baseUrl,
    local: true,
    projects: [
      { projectId: 'demo', name: 'Demo', secretKey: demo.secretKey },
      { projectId: other, name: other },
    ],
  });
});

test('another site is not told the key', async () => {
  const headers = { host: 'evil.example:4000', cookie: await cookie() };
  const response = await get(settingsPath, headers);
  expect(response!.status).toBe(403);
  expect(response!.body.toString()).not.toContain(demo.secretKey);
});
