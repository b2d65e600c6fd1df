import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pushMessage } from '../../../contract/message.ts';
import { type PushService, startPushService } from '../../../local/push-service/push-service.ts';
import type { SimulatedBrowser } from '../../../local/push-service/simulated-browser.ts';
import { push, sender } from './sender.ts';

let service: PushService;

beforeEach(async () => {
  service = await startPushService();
});
afterEach(() => service.stop());

function call(method: string, path: string, body?: unknown) {
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  return fetch(`${service.origin}${path}`, { method, ...init });
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

test('the address itself says what it is, in one line', async () => {
  const response = await call('GET', '/');
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect((await response.text()).trim().split('\n')).toEqual([
    expect.stringContaining(service.origin),
  ]);
});

test('a browser made from outside has a subscription that can be pushed to', async () => {
  const browser = await createBrowser({ applicationServerKey: sender.publicKey });
  expect(browser.subscription).toEqual({
    endpoint: `${service.origin}/push/${browser.id}`,
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

test('the application server key given is the only one that may send', async () => {
  const browser = await createBrowser({ applicationServerKey: `${sender.publicKey}=` });
  const stranger = service.subscribe().toJSON().keys.p256dh;
  const other = await createBrowser({ applicationServerKey: stranger });
  expect((await push(browser)).status).toBe(201);
  expect((await push(other)).status).toBe(401);
});

test('a behaviour set from outside applies', async () => {
  const browser = await createBrowser();
  const answer = await call('POST', `${browser.path}/behave`, { status: 503, times: 1 });
  expect(answer.status).toBe(204);
  expect((await push(browser)).status).toBe(503);
  expect((await push(browser)).status).toBe(201);
});

test('a deleted browser is gone, however often it is deleted, and keeps its messages', async () => {
  const browser = await createBrowser();
  await push(browser);
  for (let i = 0; i < 2; i++) expect((await call('DELETE', browser.path)).status).toBe(204);
  expect((await push(browser)).status).toBe(410);
  const messages = await call('GET', `${browser.path}/messages`);
  expect(await messages.json()).toHaveLength(1);
  expect(service.stats()).toMatchObject({ live: 0, gone: 1 });
});

test('the counts tell what was asked and answered', async () => {
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
    unanswered: 0,
    answers: { 201: 1, 410: 1 },
  });
});

test.each([
  ['GET', '/nowhere', 404],
  ['GET', '/browsers/unknown/messages', 404],
  ['DELETE', '/browsers/unknown', 404],
  ['GET', '/browsers/unknown/messages/1', 404],
  ['DELETE', '/stats', 405],
  ['GET', '/browsers', 405],
])('%s %s answers %d, well-formed', async (method, path, status) => {
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
  ['text that is no JSON', '/browsers', 'ding', 'expected object'],
  ['an unknown field', '/browsers', '{"key":1}', 'key'],
  ['a key that is none', '/browsers', '{"applicationServerKey":"AAAA"}', 'P-256'],
  ['a status that is none', '/behave', '{"status":99}', 'status'],
  ['two fates at once', '/behave', '{"stall":true,"reset":true}', 'only one of'],
  ['a body without a status', '/behave', '{"body":"x"}', 'belong to a status'],
  ['a header that is none', '/behave', '{"status":500,"headers":{"a b":"c"}}', 'header'],
])('%s is refused with 400 that names it', async (_, path, body, message) => {
  const { path: browser } = await createBrowser();
  const url = `${service.origin}${path === '/behave' ? browser : ''}${path}`;
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
  ])('%s posts "%s" where the last message says and relays the answer', async (action, type) => {
    const browser = await createBrowser();
    await push(browser, JSON.stringify(pushMessage('earlier', { title: 'ding' }, `${events}/0`)));
    await push(browser, JSON.stringify(pushMessage('last', { title: 'dong' }, events)));
    const response = await call('POST', `${browser.path}/${action}`);
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({ error: 'unknown' });
    expect(received).toEqual([['POST', '/events', 'application/json', `{"type":"${type}"}`]]);
  });

  test('without a message there is nothing to show', async () => {
    const browser = await createBrowser();
    expect((await call('POST', `${browser.path}/show`)).status).toBe(409);
  });

  test("a message of another sender's format has nothing to report", async () => {
    const browser = await createBrowser();
    await push(browser, JSON.stringify({ notification: { data: { events } } }));
    expect((await call('POST', `${browser.path}/click`)).status).toBe(409);
    expect(received).toEqual([]);
  });

  test('a service that cannot be reached is told as 502', async () => {
    const browser = await createBrowser();
    const closed = await startPushService();
    await closed.stop();
    await push(browser, JSON.stringify(pushMessage('id', { title: 'ding' }, `${closed.origin}/`)));
    expect((await call('POST', `${browser.path}/show`)).status).toBe(502);
  });
});
