import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import * as https from 'node:https';
import { createBrowserKeys } from '../../../local/push-service/browser-keys.ts';
import { certificate } from '../../../local/push-service/certificate.ts';
import {
  type PushServiceOptions,
  startPushService,
} from '../../../local/push-service/push-service.ts';
import { push, pushRequest, sender } from './sender.ts';

const stops: (() => Promise<void>)[] = [];

async function start(options?: PushServiceOptions) {
  const service = await startPushService(options);
  stops.push(service.stop);
  return service;
}

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

test('a browser is subscribed as PushManager does it, its key in one spelling', async () => {
  const service = await start();
  const browser = service.subscribe({ applicationServerKey: `${sender.publicKey}=` });
  expect(Object.keys(browser.toJSON())).toEqual(['endpoint', 'expirationTime', 'keys']);
  expect(browser.applicationServerKey).toBe(sender.publicKey);
  for (const applicationServerKey of ['AAAA', ` ${sender.publicKey}`]) {
    expect(() => service.subscribe({ applicationServerKey })).toThrow(TypeError);
  }
});

test('messages are given in their order, those that came before and those that come', async () => {
  const service = await start();
  const browser = service.subscribe();
  await push(browser, 'first');
  const texts = Promise.all(
    [browser.nextMessage(), browser.nextMessage()].map(async (message) => (await message).text),
  );
  await push(browser, 'second');
  expect(await texts).toEqual(['first', 'second']);
});

test('waiting for a number of messages counts all browsers, from the start', async () => {
  const service = await start();
  const browsers = [service.subscribe(), service.subscribe(), service.subscribe()];
  await push(browsers[0]!);
  let arrived = false;
  const all = service.waitFor(3).then(() => {
    arrived = true;
  });
  await push(browsers[1]!);
  expect(arrived).toBe(false);
  await push(browsers[2]!);
  await all;
  await service.waitFor(3);
  expect(service.stats().accepted).toBe(3);
});

test('without decryption messages are counted and not kept', async () => {
  const service = await start({ decrypt: false });
  const browser = service.subscribe();
  expect((await push(browser)).status).toBe(201);
  expect(browser.messages).toEqual([]);
  expect(service.stats().accepted).toBe(1);
});

test('browsers can share a pair of keys and still have endpoints of their own', async () => {
  const service = await start();
  const keys = createBrowserKeys();
  const browsers = Array.from({ length: 1000 }, () => service.subscribe({ keys }));
  expect(new Set(browsers.map(({ endpoint }) => endpoint)).size).toBe(1000);
  await push(browsers[999]!, 'ding');
  expect(browsers[999]?.messages).toHaveLength(1);
  expect(browsers[0]?.messages).toEqual([]);
});

test('pushes one after the other share a connection, and none is counted as parallel', async () => {
  const service = await start();
  const browser = service.subscribe();
  const agent = new Agent({ keepAlive: true });
  for (let i = 0; i < 5; i++) {
    const { endpoint, headers, body } = pushRequest(browser, 'ding');
    const sent = request(endpoint, { method: 'POST', headers, agent }).end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    await response.toArray();
    expect(response.headers['keep-alive']).toBe('timeout=120');
  }
  agent.destroy();
  expect(service.stats()).toMatchObject({ requests: 5, connections: 1, peakInFlight: 1 });
});

test('it speaks TLS with a certificate given, under an https origin', async () => {
  const service = await start({ tls: certificate });
  expect(service.origin).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const browser = service.subscribe();
  const { endpoint, headers, body } = pushRequest(browser, 'ding');
  const agent = new https.Agent({ ca: certificate.cert });
  const sent = https.request(endpoint, { method: 'POST', headers, agent }).end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(201);
  expect((await browser.nextMessage()).text).toBe('ding');
  agent.destroy();
});

test('a port in use is an error of the start', async () => {
  const service = await start();
  const port = Number(new URL(service.origin).port);
  await expect(startPushService({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

test('stopping ends kept connections, waits and the port', async () => {
  const service = await start();
  const browser = service.subscribe();
  await push(browser);
  await browser.nextMessage();
  const waits = Promise.allSettled([browser.nextMessage(), service.waitFor(2)]);
  await service.stop();
  for (const wait of await waits) {
    expect(wait).toMatchObject({ status: 'rejected', reason: { name: 'AbortError' } });
  }
  await expect(push(browser)).rejects.toThrow('fetch failed');
});
