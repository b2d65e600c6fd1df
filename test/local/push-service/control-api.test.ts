import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pushMessage } from '../../../contract/message.ts';
import { type PushService, startPushService } from '../../../local/push-service/push-service.ts';
import type { SimulatedBrowser } from '../../../local/push-service/simulated-browser.ts';
import { push, sender } from './sender.ts';

let pushService: PushService;

beforeEach(async () => {
  pushService = await startPushService();
});
afterEach(() => pushService.stop());

function call(method: string, path: string, body?: unknown) {
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  return fetch(`${pushService.origin}${path}`, { method, ...init });
}

async function createBrowser(body?: object) {
  const response = await call('POST', '/browsers', body);
  expect(response.status).toBe(201);
  const { id, ...subscription } = (await response.json()) as ReturnType<
    SimulatedBrowser['toJSON']
  > & {
    id: string;
  };
  return { id, path: `/browsers/${id}`, subscription, toJSON: () => subscription };
}

test('GET / describes the push service in one line', async () => {
  const response = await call('GET', '/');
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect((await response.text()).trim().split('\n')).toEqual([
    expect.stringContaining(pushService.origin),
  ]);
});

test('a created browser has a subscription and receives pushes', async () => {
  const browser = await createBrowser({ applicationServerKey: sender.publicKey });
  expect(browser.subscription).toEqual({
    endpoint: `${pushService.origin}/push/${browser.id}`,
    expirationTime: null,
    keys: {
      p256dh: expect.stringMatching(/^[\w-]{87}$/),
      auth: expect.stringMatching(/^[\w-]{22}$/),
    },
  });
  expect((await push(browser, '{"title":"ding"}')).status).toBe(201);
  expect((await push(browser, 'plain')).status).toBe(201);
  const messages = await call('GET', `${browser.path}/messages`);
  expect(await messages.json()).toEqual([
    { data: { title: 'ding' }, ttl: 60, urgency: 'normal' },
    { data: 'plain', ttl: 60, urgency: 'normal' },
  ]);
});

test('only the given application server key may send', async () => {
  const browser = await createBrowser({ applicationServerKey: `${sender.publicKey}=` });
  const otherKey = pushService.subscribe().toJSON().keys.p256dh;
  const other = await createBrowser({ applicationServerKey: otherKey });
  expect((await push(browser)).status).toBe(201);
  expect((await push(other)).status).toBe(401);
});

test('a behaviour applies to the next pushes', async () => {
  const browser = await createBrowser();
  const response = await call('POST', `${browser.path}/behave`, { status: 503, times: 1 });
  expect(response.status).toBe(204);
  expect((await push(browser)).status).toBe(503);
  expect((await push(browser)).status).toBe(201);
});

test('a deleted browser is gone and keeps its messages; deletion is idempotent', async () => {
  const browser = await createBrowser();
  await push(browser);
  for (let i = 0; i < 2; i++) expect((await call('DELETE', browser.path)).status).toBe(204);
  expect((await push(browser)).status).toBe(410);
  const messages = await call('GET', `${browser.path}/messages`);
  expect(await messages.json()).toHaveLength(1);
  expect(pushService.stats()).toMatchObject({ live: 0, gone: 1 });
});

test('GET /stats returns the counts of subscriptions, requests and responses', async () => {
  const [browser, gone] = [await createBrowser(), await createBrowser()];
  await call('DELETE', gone.path);
  await push(browser);
  await push(gone);
  const stats = await (await call('GET', '/stats')).json();
  expect(stats).toMatchObject({
    live: 1,
    gone: 1,
    requests: 2,
    accepted: 1,
    inFlight: 0,
    withoutResponse: 0,
    responses: { 201: 1, 410: 1 },
  });
});

test.each([
  ['GET', '/nowhere', 404],
  ['GET', '/browsers/unknown/messages', 404],
  ['DELETE', '/browsers/unknown', 404],
  ['GET', '/browsers/unknown/messages/1', 404],
  ['DELETE', '/stats', 405],
  ['GET', '/browsers', 405],
])('%s %s returns %d with an error body', async (method, path, status) => {
  const response = await call(method, path);
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual({
    code: status,
    errno: null,
    error: response.statusText,
    message: expect.any(String),
  });
});

test.each([
  ['malformed JSON', '/browsers', 'ding', 'expected object'],
  ['an unknown field', '/browsers', '{"key":1}', 'key'],
  ['an invalid key', '/browsers', '{"applicationServerKey":"AAAA"}', 'P-256'],
  ['an invalid status', '/behave', '{"status":99}', 'status'],
  ['two exclusive members', '/behave', '{"stall":true,"reset":true}', 'only one of'],
  ['a body without a status', '/behave', '{"body":"x"}', 'require a status'],
  ['an invalid header', '/behave', '{"status":500,"headers":{"a b":"c"}}', 'header'],
])('%s is refused with 400 and the reason', async (_, path, body, message) => {
  const { path: browser } = await createBrowser();
  const url = `${pushService.origin}${path === '/behave' ? browser : ''}${path}`;
  const response = await fetch(url, { method: 'POST', body });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ message: expect.stringContaining(message) });
});

describe('beacons', () => {
  let beacons: Server;
  let received: unknown[];
  let events: string;

  beforeEach(async () => {
    received = [];
    beacons = createServer(async (request, response) => {
      const body = (await request.toArray()).join('');
      received.push([request.method, request.url, request.headers['content-type'], body]);
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"unknown"}');
    }).listen(0, '127.0.0.1');
    await once(beacons, 'listening');
    events = `http://127.0.0.1:${(beacons.address() as AddressInfo).port}/events`;
  });
  afterEach(async () => {
    beacons.closeAllConnections();
    await new Promise((resolve) => beacons.close(resolve));
  });

  test.each([
    ['show', 'shown'],
    ['click', 'clicked'],
  ])(
    '%s posts "%s" to the events URL of the last message and returns the response',
    async (action, type) => {
      const browser = await createBrowser();
      await push(browser, JSON.stringify(pushMessage('earlier', { title: 'ding' }, `${events}/0`)));
      await push(browser, JSON.stringify(pushMessage('last', { title: 'dong' }, events)));
      const response = await call('POST', `${browser.path}/${action}`);
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(await response.json()).toEqual({ error: 'unknown' });
      expect(received).toEqual([
        ['POST', '/events', 'text/plain;charset=UTF-8', `{"type":"${type}"}`],
      ]);
    },
  );

  test('show without a message returns 409', async () => {
    const browser = await createBrowser();
    expect((await call('POST', `${browser.path}/show`)).status).toBe(409);
  });

  test('click on a message that Carillon did not send returns 409', async () => {
    const browser = await createBrowser();
    await push(browser, JSON.stringify({ notification: { data: { events } } }));
    expect((await call('POST', `${browser.path}/click`)).status).toBe(409);
    expect(received).toEqual([]);
  });

  test('show returns 502 if the service cannot be reached', async () => {
    const browser = await createBrowser();
    const closed = await startPushService();
    await closed.stop();
    await push(browser, JSON.stringify(pushMessage('id', { title: 'ding' }, `${closed.origin}/`)));
    expect((await call('POST', `${browser.path}/show`)).status).toBe(502);
  });
});
