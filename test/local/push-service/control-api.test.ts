import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pushMessage } from '../../../contract/wire/message.ts';
import { type PushService, startPushService } from '../../../local/push-service/push-service.ts';
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
  const { id, ...subscription } = (await response.json()) as {
    id: string;
    endpoint: string;
    keys: { p256dh: string; auth: string };
  };
  return { id, path: `/browsers/${id}`, subscription, toJSON: () => subscription };
}

test('a browser is created, receives, behaves, is counted and is gone', async () => {
  const browser = await createBrowser({ applicationServerKey: `${sender.publicKey}=` });
  expect(browser.subscription).toEqual({
    endpoint: `${pushService.origin}/push/${browser.id}`,
    expirationTime: null,
    keys: {
      p256dh: expect.stringMatching(/^[\w-]{87}$/),
      auth: expect.stringMatching(/^[\w-]{22}$/),
    },
  });
  await push(browser, '{"title":"ding"}');
  await push(browser, 'plain');
  await call('POST', `${browser.path}/behave`, { status: 503, times: 1 });
  expect((await push(browser)).status).toBe(503);
  // Deletion is idempotent.
  for (let i = 0; i < 2; i++) expect((await call('DELETE', browser.path)).status).toBe(204);
  expect((await push(browser)).status).toBe(410);
  expect(await (await call('GET', `${browser.path}/messages`)).json()).toEqual([
    { data: { title: 'ding' }, ttl: 60, urgency: 'normal' },
    { data: 'plain', ttl: 60, urgency: 'normal' },
  ]);
  expect(await (await call('GET', '/stats')).json()).toMatchObject({
    live: 0,
    gone: 1,
    requests: 4,
    accepted: 2,
    inFlight: 0,
    withoutResponse: 0,
    responses: { 201: 2, 503: 1, 410: 1 },
  });
  expect(await (await call('GET', '/')).text()).toContain(pushService.origin);
});

test.each([
  ['GET', '/nowhere', 404],
  ['GET', '/browsers/unknown/messages', 404],
  ['GET', '/browsers/unknown/messages/1', 404],
  ['DELETE', '/stats', 405],
])('%s %s returns %d with an error body', async (method, path, status) => {
  const response = await call(method, path);
  expect(response.status).toBe(status);
  const message = expect.any(String);
  expect(await response.json()).toEqual({
    ...{ code: status, errno: null, error: response.statusText, message },
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

test('beacons report the last message, and their response is returned', async () => {
  const received: unknown[] = [];
  const beacons = createServer(async (request, response) => {
    received.push([request.headers['content-type'], (await request.toArray()).join('')]);
    response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"unknown"}');
  }).listen(0, '127.0.0.1');
  await once(beacons, 'listening');
  const events = `http://127.0.0.1:${(beacons.address() as AddressInfo).port}/events`;
  const browser = await createBrowser();
  const report = async (action: string) => (await call('POST', browser.path + action)).status;
  try {
    expect(await report('/show')).toBe(409);
    // Carillon did not send this one.
    await push(browser, JSON.stringify({ notification: { data: { events } } }));
    expect(await report('/click')).toBe(409);
    await push(browser, JSON.stringify(pushMessage('last', { title: 'dong' }, events)));
    expect([await report('/show'), await report('/click')]).toEqual([404, 404]);
    const type = 'text/plain;charset=UTF-8';
    expect(received).toEqual([
      [type, '{"type":"shown"}'],
      [type, '{"type":"clicked"}'],
    ]);
    // Other browsers are the sample.
    await push(browser, JSON.stringify(pushMessage('last', { title: 'dong' }, events, 0, false)));
    expect([await report('/show'), await report('/click')]).toEqual([409, 404]);
    expect(received.slice(2)).toEqual([[type, '{"type":"clicked"}']]);
  } finally {
    beacons.closeAllConnections();
    beacons.close();
  }
  expect(await report('/click')).toBe(502);
});
