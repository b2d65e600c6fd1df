import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { createBrowserKeys } from '../../admin/browser.ts';
import { routes } from '../../contract/wire/routes.ts';
import { type SubscriptionItem, subscriptionKey } from '../../lambdas/store/items.ts';
import { pushOverNetwork, skipWaits } from '../fixtures/network-pushing.ts';
import { recipient } from '../fixtures/recipient.ts';
import { type ProjectCredentials, type Service, startService } from '../fixtures/service.ts';
import { hostileUrls, malformedUrls } from './fixtures/hostile-urls.ts';
import { readProjectItems } from './fixtures/project-items.ts';
import { pushHeaders } from './fixtures/push-headers.ts';

const browserKeys = createBrowserKeys();
const keys = {
  p256dh: browserKeys.publicKey.toString('base64url'),
  auth: browserKeys.authSecret.toString('base64url'),
};

let service: Service;
let project: ProjectCredentials;
/** A server on all addresses of this machine. No push may connect to it. */
let trap: Server;
let trapConnections = 0;

beforeAll(async () => {
  trap = createServer((socket) => {
    trapConnections += 1;
    socket.destroy();
  });
  trap.listen(0, '::');
  await once(trap, 'listening');
  service = await startService({ concurrency: 2 });
  project = await service.createProject({ rateLimitPerMinute: null });
});
afterAll(async () => {
  await service.stop();
  await once(trap.close(), 'close');
});

const trapPort = () => (trap.address() as AddressInfo).port;

const withPort = (url: string) => url.replace('PORT', String(trapPort()));

const subscriptions = async () =>
  (await readProjectItems(service.dynamo, service.stack.dynamodb.tables, project.ref))
    .subscriptions;

describe('an endpoint that is not of an accepted push service is refused and not stored', () => {
  test.each(Object.entries({ ...hostileUrls, ...malformedUrls }))('%s', async (_, url) => {
    const before = await subscriptions();
    const { status, body } = await service.call(routes.subscribe, {
      parameters: { projectId: project.projectId },
      body: { endpoint: withPort(url), keys },
    });
    expect(status).toBe(400);
    expect(body.error.code).toBe('invalid_request');
    expect(body.error.issues?.map(({ path }) => path)).toEqual(['endpoint']);
    expect(await subscriptions()).toEqual(before);
  });
});

test('a stored endpoint that is not of an accepted push service is never connected to', async () => {
  const owner = await service.createProject();
  const { SUBSCRIPTIONS_TABLE } = service.stack.dynamodb.tables;
  const endpoints = Object.values(hostileUrls).map(withPort);
  expect(new Set(endpoints).size).toBe(endpoints.length);
  for (const endpoint of endpoints) {
    const now = Date.now();
    const stored = recipient({ endpoint, keys });
    const item: SubscriptionItem = {
      ...stored,
      ...subscriptionKey(owner.ref, stored.endpointHash),
      createdAt: now,
      updatedAt: now,
    };
    await service.dynamo.send(new PutCommand({ TableName: SUBSCRIPTIONS_TABLE, Item: item }));
  }
  const valid = await service.subscribe(owner);
  const { status, body } = await service.send(owner, { title: 'T' });
  expect(status).toBe(201);
  expect(body).toMatchObject({ delivered: 1, removed: 0, failed: endpoints.length });
  expect(valid.messages).toHaveLength(1);
  expect(trapConnections).toBe(0);
});

describe('a redirect by a push service is not followed', () => {
  const hosts = ['http://127.0.0.1:', 'http://localhost:', '//127.0.0.1:', 'https://[::1]:'];

  test.each([300, 301, 302, 303, 305, 307, 308])('%i', async (status) => {
    const other = await service.subscribe(await service.createProject());
    const locations = [...hosts.map((host) => `${host}${trapPort()}/`), other.endpoint];
    const owner = await service.createProject();
    for (const location of locations) {
      const browser = await service.subscribe(owner);
      browser.behave({ status, headers: { location } });
    }
    const requests = service.stack.pushService.stats().requests;
    const { body } = await service.send(owner, { title: 'T' });
    expect(body).toMatchObject({ attempted: 5, delivered: 0, removed: 0, failed: 5 });
    expect(service.stack.pushService.stats().requests - requests).toBe(5);
    expect(trapConnections).toBe(0);
    expect(other.messages).toEqual([]);
  });
});

describe('a stored path cannot add to a push request or change its host', () => {
  test.each([
    ['a header', '/push/x HTTP/1.1\r\nX-Injected: yes\r\n\r\n'],
    ['a header after a bare LF', '/push/x\nX-Injected: yes'],
    [
      'another request',
      '/push/x HTTP/1.1\r\nHost: a\r\n\r\nPOST /injected HTTP/1.1\r\nHost: a\r\n\r\n',
    ],
    ['a host', '/@127.0.0.1:1/injected'],
    ['another URL', '//127.0.0.1:1/injected'],
    ['a parent folder', '/../../injected'],
    ['a NUL', '/push/\u0000injected'],
    ['a character outside latin1', '/push/€'],
    ['characters with the low bytes of CR and LF', '/push/\u010d\u010a'],
  ])('%s', async (_, path) => {
    const requests: [string | undefined, string[]][] = [];
    const server = createHttpServer((request, response) => {
      requests.push([request.url, Object.keys(request.headers)]);
      response.writeHead(201).end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const recipients = [recipient({ endpoint: origin + path, keys })];
    const { attempted } = await pushOverNetwork(
      { recipients },
      { extraOrigins: [origin], sleep: skipWaits },
    );
    server.closeAllConnections();
    await once(server.close(), 'close');
    expect(attempted).toBe(1);
    expect(requests.length).toBeLessThanOrEqual(1);
    for (const [url, headers] of requests) {
      expect(url).toMatch(/^\/[!-~]*$/);
      expect(new Set(headers)).toEqual(pushHeaders);
    }
  });
});
