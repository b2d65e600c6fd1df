import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { createBrowserKeys, decrypt } from '../../../admin/browser.ts';
import { type PushService, startPushService } from '../../../local/push-service/push-service.ts';
import { temporaryFolder } from '../../fixtures/folder.ts';
import { post, push, pushRequest, sender } from './sender.ts';

let pushService: PushService;

beforeEach(async () => {
  pushService = await startPushService();
});

afterEach(() => pushService.stop());

type Message = Readonly<Record<string, unknown>>;

/** Connects as a browser and completes the hello. */
async function connect(uaid?: string) {
  const socket = new WebSocket(pushService.origin.replace('http', 'ws'));
  const messages: Message[] = [];
  socket.on('message', (data) => messages.push(JSON.parse(String(data))));
  await once(socket, 'open');
  let taken = 0;
  const connection = {
    socket,
    send: (message: object) => socket.send(JSON.stringify(message)),
    async next(): Promise<Message> {
      while (messages.length <= taken) {
        if (socket.readyState !== WebSocket.OPEN) throw new Error('The connection is closed.');
        await Promise.race([once(socket, 'message'), once(socket, 'close')]);
      }
      return messages[taken++]!;
    },
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
  connection.send({ messageType: 'hello', use_webpush: true, uaid });
  const hello = await connection.next();
  expect(hello).toMatchObject({ messageType: 'hello', status: 200, use_webpush: true });
  return { ...connection, uaid: hello.uaid as string };
}

type Connection = Awaited<ReturnType<typeof connect>>;

/** Subscribes as Firefox does: it creates the channel's id and keys, and pads the sender's key. */
async function subscribe({ send, next }: Connection, key = `${sender.publicKey}=`) {
  const channelID = randomUUID();
  send({ messageType: 'register', channelID, key });
  const response = await next();
  const keys = createBrowserKeys();
  const subscription = {
    endpoint: response.pushEndpoint as string,
    keys: {
      p256dh: keys.publicKey.toString('base64url'),
      auth: keys.authSecret.toString('base64url'),
    },
  };
  return { channelID, response, keys, target: { toJSON: () => subscription } };
}

test('a push arrives encrypted, and an acknowledged message is not sent again', async () => {
  const browser = await connect();
  const { channelID, keys, target } = await subscribe(browser);
  expect((await push(target, 'ding')).status).toBe(201);
  const message = await browser.next();
  expect(message).toMatchObject({
    messageType: 'notification',
    channelID,
    ttl: 60,
    headers: { encoding: 'aes128gcm' },
  });
  const body = Buffer.from(message.data as string, 'base64url');
  expect(decrypt(body, keys).toString()).toBe('ding');
  const { version } = message;
  browser.send({ messageType: 'ack', updates: [{ channelID, version, code: 100 }] });
  await browser.close();

  const again = await connect(browser.uaid);
  expect(again.uaid).toBe(browser.uaid);
  again.send({});
  expect(await again.next()).toEqual({});
  await again.close();
});

test('of the messages with one topic, a disconnected browser receives the last', async () => {
  const browser = await connect();
  const [first, second] = [await subscribe(browser), await subscribe(browser)];
  await browser.close();
  const pushes = [
    [first, 'score', 60],
    [second, 'score', 60],
    [first, 'score', 61],
    [first, 'news', 62],
    [first, 'news', 0],
  ] as const;
  for (const [{ target }, topic, ttl] of pushes) {
    const { headers, ...request } = pushRequest(target, 'ding');
    const options = { TTL: String(ttl), Topic: topic };
    expect((await post({ ...request, headers: { ...headers, ...options } })).status).toBe(201);
  }
  const again = await connect(browser.uaid);
  again.send({});
  const received = [await again.next(), await again.next(), await again.next()];
  expect(received.map(({ channelID, ttl }) => [channelID, ttl])).toEqual([
    [second.channelID, 60],
    [first.channelID, 61],
    [undefined, undefined],
  ]);
  await again.close();
});

test('it tells the time, and names no subprotocol, also if a browser asks for one', async () => {
  const address = pushService.origin.replace('http', 'ws');
  const firefox = new WebSocket(address, 'push-notification');
  firefox.on('error', () => {});
  const [{ headers }] = (await once(firefox, 'upgrade')) as [IncomingMessage];
  expect(headers).not.toHaveProperty('sec-websocket-protocol');
  expect(Math.abs(Date.parse(headers.date!) - Date.now())).toBeLessThan(60_000);
});

test('an invalid application server key is refused', async () => {
  const browser = await connect();
  const { response } = await subscribe(browser, 'AAAA');
  expect(response.status).toBe(400);
  await browser.close();
});

test.each([
  ['malformed JSON', 'hello'],
  ['an unknown message', '{"messageType":"subscribe"}'],
  ['register before hello', `{"messageType":"register","channelID":"${randomUUID()}"}`],
])('%s closes the connection', async (_, text) => {
  const socket = new WebSocket(pushService.origin.replace('http', 'ws'));
  await once(socket, 'open');
  socket.send(text);
  const [code] = await once(socket, 'close');
  expect(code).toBeGreaterThanOrEqual(4400);
});

test('after a restart with the same file, a browser keeps its id and receives at its endpoint', async () => {
  const folder = temporaryFolder();
  const subscriptionFile = join(folder.path, 'subscriptions.jsonl');
  await pushService.stop();
  pushService = await startPushService({ subscriptionFile });
  const { port } = new URL(pushService.origin);
  const before = await connect();
  const { target } = await subscribe(before);
  await pushService.stop();

  pushService = await startPushService({ subscriptionFile, port: Number(port) });
  expect((await push(target)).status).toBe(201);
  const after = await connect(before.uaid);
  expect(after.uaid).toBe(before.uaid);
  expect(await after.next()).toMatchObject({ messageType: 'notification' });
  await after.close();
  folder.remove();
});

const foreign = 'https://evil.example';

test('a request of a page is refused, and says why', async () => {
  const { origin } = pushService;
  const response = await fetch(origin, { method: 'POST', headers: { origin: foreign } });
  expect(response.status).toBe(403);
  expect(await response.text()).toContain('no page of another origin');
  expect(response.headers.has('access-control-allow-origin')).toBe(false);
});

test('the WebSocket of a page is refused', async () => {
  const address = pushService.origin.replace('http', 'ws');
  const connect = (from: string) => new WebSocket(address, { origin: from });
  const [, refused] = await once(connect(foreign), 'unexpected-response');
  expect((refused as IncomingMessage).statusCode).toBe(403);
  const firefox = connect(`${address}/`);
  await once(firefox, 'open');
  firefox.terminate();
});
