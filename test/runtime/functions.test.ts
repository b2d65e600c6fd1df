import { randomUUID } from 'node:crypto';
import { readFunctions } from 'aws-emulator/functions';
import { startGateway } from 'aws-emulator/gateway';
import { readRoutes } from 'aws-emulator/routes';
import { readAssembly } from 'aws-emulator/template';
import { installNode } from '../../bin/deployed-node.ts';
import { gatewayResponseTable } from '../../contract/infrastructure/gateway-responses.ts';
import { nodeVersion } from '../../contract/infrastructure/runtime.ts';
import { pathOf } from '../../contract/text/addresses.ts';
import { routes } from '../../contract/wire/routes.ts';
import { startingResponse } from '../../local/pages.ts';
import { sharedAssembly } from '../fixtures/assembly.ts';
import { temporaryFolder } from '../fixtures/folder.ts';
import { type Service, startService } from '../fixtures/service.ts';
import { slice } from '../lambdas/deliver/delivery-setup.ts';
import { invokeOnce, type Report, type Runtime } from './fixtures/invoke-once.ts';
import { installRuntimeClient } from './fixtures/runtime-client.ts';

const assembly = readAssembly(sharedAssembly);
const functions = readFunctions(assembly);
const gatewayRoutes = readRoutes(assembly);

let runtime: Runtime;
let service: Service;
let gateway: Awaited<ReturnType<typeof startGateway>>;

beforeAll(async () => {
  const node = await installNode(nodeVersion);
  runtime = { node, client: await installRuntimeClient(node) };
  service = await startService();
  gateway = await startGateway({
    responses: gatewayResponseTable,
    starting: startingResponse,
    onFailure: console.error,
  });
  gateway.open({
    routes: gatewayRoutes,
    invoke: async (name, event) => {
      const { kind, body } = await invoke(name, JSON.parse(event));
      if (kind !== 'response') throw new Error(`${name}: ${kind} ${JSON.stringify(body)}`);
      return JSON.stringify(body);
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await service.stop();
});

/** Runs a deployed bundle under the runtime client, with the database of the local stack. */
function invoke(name: string, event: unknown): Promise<Report> {
  const definition = functions.find((candidate) => candidate.name === name)!;
  const environment = service.stack.environments.get(name)!;
  const { assetPath: code, handler } = definition;
  return invokeOnce(runtime, { code, handler, environment }, event);
}

const apiRoutes = gatewayRoutes.filter(({ segments }) => segments[0] === 'api');

test.each(apiRoutes)('$routeKey responds to an empty request', async ({ method, segments }) => {
  const path = segments.map((segment) => (segment.startsWith('{') ? randomUUID() : segment));
  const response = await fetch(`${gateway.origin}/${path.join('/')}`, { method });
  if (method === 'OPTIONS') {
    expect(response.status).toBe(204);
  } else {
    expect([400, 401, 404, 415]).toContain(response.status);
    expect(await response.json()).toEqual({
      error: { code: expect.any(String), message: expect.any(String) },
    });
  }
});

test('the console is served with its files, and no others', async () => {
  const page = await fetch(`${gateway.origin}/console`);
  expect([page.status, page.headers.get('content-type')]).toEqual([
    200,
    'text/html; charset=utf-8',
  ]);
  const [, script] = /src="([^"]+\.js)"/.exec(await page.text())!;
  const file = await fetch(new URL(script!, `${gateway.origin}/console`));
  expect([file.status, file.headers.get('cache-control')]).toEqual([
    200,
    'public, max-age=31536000, immutable',
  ]);
  expect((await fetch(`${gateway.origin}/console/no-such.js`)).status).toBe(404);
});

test('send delivers to a browser', async () => {
  const project = await service.createProject();
  const browser = await service.subscribe(project);
  const { projectId, secretKey } = project;
  const response = await fetch(gateway.origin + pathOf(routes.send, { projectId }), {
    method: 'POST',
    headers: { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title: 'Hello' }),
  });
  expect(response.status).toBe(201);
  expect(await response.json()).toMatchObject({ attempted: 1, delivered: 1 });
  expect(browser.messages).toHaveLength(1);
});

/** Events of the functions that have no route, by their names. */
const events = { Deliver: slice() };

test('each function without a route returns its result', async () => {
  const routed = new Set(gatewayRoutes.map(({ functionName }) => functionName));
  const others = functions.map(({ name }) => name).filter((name) => !routed.has(name));
  expect(others).toHaveLength(Object.keys(events).length);
  for (const [prefix, event] of Object.entries(events)) {
    const name = others.find((other) => other.startsWith(prefix))!;
    expect(await invoke(name, event)).toEqual({ kind: 'response', body: null });
  }
});

test.each([
  ['that does not load', "import './missing.mjs';"],
  ['with a callback', 'export const handler = (event, context, callback) => callback(null);'],
])('a bundle %s is an error', async (_case, source) => {
  const folder = temporaryFolder();
  folder.write('index.mjs', source);
  const code = { code: folder.path, handler: 'index.handler', environment: {} };
  expect(await invokeOnce(runtime, code, {})).toMatchObject({ kind: 'init error' });
  folder.remove();
});
