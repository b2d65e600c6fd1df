import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import * as https from 'node:https';
import { join } from 'node:path';
import { createBrowserKeys } from '../../../admin/browser/browser-keys.ts';
import { certificate } from '../../../local/push-service/certificate.ts';
import {
  type PushServiceOptions,
  startPushService,
} from '../../../local/push-service/push-service.ts';
import type { SimulatedBrowser } from '../../../local/push-service/simulated-browser.ts';
import { temporaryFolder } from '../../fixtures/folder.ts';
import { push, pushRequest, sender } from './sender.ts';

const stops: (() => Promise<void>)[] = [];

async function start(options?: PushServiceOptions) {
  const pushService = await startPushService(options);
  stops.push(pushService.stop);
  return pushService;
}

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

test('subscribe() normalises the key and rejects invalid ones, as PushManager does', async () => {
  const pushService = await start();
  const browser = pushService.subscribe({ applicationServerKey: `${sender.publicKey}=` });
  expect(Object.keys(browser.toJSON())).toEqual(['endpoint', 'expirationTime', 'keys']);
  expect(browser.applicationServerKey).toBe(sender.publicKey);
  for (const applicationServerKey of ['AAAA', ` ${sender.publicKey}`]) {
    expect(() => pushService.subscribe({ applicationServerKey })).toThrow(TypeError);
  }
});

test('nextMessage() returns past and future messages in order', async () => {
  const pushService = await start();
  const browser = pushService.subscribe();
  await push(browser, 'first');
  const texts = Promise.all(
    [browser.nextMessage(), browser.nextMessage()].map(async (message) => (await message).text),
  );
  await push(browser, 'second');
  expect(await texts).toEqual(['first', 'second']);
});

test('waitFor() counts the messages of all browsers from the start', async () => {
  const pushService = await start();
  const browsers = [pushService.subscribe(), pushService.subscribe(), pushService.subscribe()];
  await push(browsers[0]!);
  let arrived = false;
  const all = pushService.waitFor(3).then(() => {
    arrived = true;
  });
  await push(browsers[1]!);
  expect(arrived).toBe(false);
  await push(browsers[2]!);
  await all;
  await pushService.waitFor(3);
  expect(pushService.stats().accepted).toBe(3);
});

test('messages are counted but not kept if decryption is off', async () => {
  const pushService = await start({ decrypt: false });
  const browser = pushService.subscribe();
  expect((await push(browser)).status).toBe(201);
  expect(browser.messages).toEqual([]);
  expect(pushService.stats().accepted).toBe(1);
});

test('browsers that share keys have separate endpoints and messages', async () => {
  const pushService = await start();
  const keys = createBrowserKeys();
  const browsers = Array.from({ length: 1000 }, () => pushService.subscribe({ keys }));
  expect(new Set(browsers.map(({ endpoint }) => endpoint)).size).toBe(1000);
  await push(browsers[999]!, 'ding');
  expect(browsers[999]?.messages).toHaveLength(1);
  expect(browsers[0]?.messages).toEqual([]);
});

test('sequential pushes share one connection, and at most one is in flight', async () => {
  const pushService = await start();
  const browser = pushService.subscribe();
  const agent = new Agent({ keepAlive: true });
  for (let i = 0; i < 5; i++) {
    const { endpoint, headers, body } = pushRequest(browser, 'ding');
    const sent = request(endpoint, { method: 'POST', headers, agent }).end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    await response.toArray();
    expect(response.headers['keep-alive']).toBe('timeout=120');
  }
  agent.destroy();
  expect(pushService.stats()).toMatchObject({ requests: 5, connections: 1, peakInFlight: 1 });
});

test('it uses TLS and an https origin if a certificate is given', async () => {
  const pushService = await start({ tls: certificate });
  expect(pushService.origin).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const browser = pushService.subscribe();
  const { endpoint, headers, body } = pushRequest(browser, 'ding');
  const agent = new https.Agent({ ca: certificate.cert });
  const sent = https.request(endpoint, { method: 'POST', headers, agent }).end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(201);
  expect((await browser.nextMessage()).text).toBe('ding');
  agent.destroy();
});

test('starting on a port in use fails', async () => {
  const pushService = await start();
  const port = Number(new URL(pushService.origin).port);
  await expect(startPushService({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

test('stop() closes idle connections and the port, and aborts waits', async () => {
  const pushService = await start();
  const browser = pushService.subscribe();
  await push(browser);
  await browser.nextMessage();
  const waits = Promise.allSettled([browser.nextMessage(), pushService.waitFor(2)]);
  await pushService.stop();
  for (const wait of await waits) {
    expect(wait).toMatchObject({ status: 'rejected', reason: { name: 'AbortError' } });
  }
  await expect(push(browser)).rejects.toThrow('fetch failed');
});

test('with a file, subscriptions and their ends outlive a restart on the same port', async () => {
  const folder = temporaryFolder();
  const subscriptionFile = join(folder.path, 'subscriptions.jsonl');
  const first = await start({ subscriptionFile });
  const port = Number(new URL(first.origin).port);
  const { publicKey: applicationServerKey } = sender;
  const live = first.subscribe({ applicationServerKey });
  const ended = first.subscribe();
  ended.unsubscribe();
  await first.stop();

  const second = await start({ subscriptionFile, port });
  expect((await push(live, 'after the restart')).status).toBe(201);
  const restored = second.channels.find(live.id) as SimulatedBrowser;
  expect(restored.messages.map(({ text }) => text)).toEqual(['after the restart']);
  expect(restored.applicationServerKey).toBe(applicationServerKey);
  expect((await push(ended)).status).toBe(410);
  expect(second.stats()).toMatchObject({ live: 1, gone: 1 });
  folder.remove();
});
