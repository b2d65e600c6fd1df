import { once } from 'node:events';
import { Agent, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AfterForgetting, connectionForgetter } from '../../local/forget-connections.ts';

let server: Server;
let agent: Agent;
let forget: (then: AfterForgetting) => number;
/** Requests that the server handled. */
let handled: number;

beforeEach(async () => {
  handled = 0;
  agent = new Agent({ keepAlive: true });
  server = createServer((message, response) => {
    handled += 1;
    message.resume().once('end', () => response.end('ok'));
  });
  forget = connectionForgetter(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  agent.destroy();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

function post(signal?: AbortSignal) {
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, host: '127.0.0.1', method: 'POST', agent, signal });
  sent.end('body');
  return sent;
}

async function status(): Promise<number | undefined> {
  const [response] = await once(post(), 'response');
  await once(response.resume(), 'end');
  return response.statusCode;
}

test('a forgotten connection stays open until its client sends something, and is reset then', async () => {
  await status();
  expect(forget('reset')).toBe(1);
  const [socket] = Object.values(agent.freeSockets)[0]!;
  // The server still responds on another connection, so what it had to send has arrived.
  const other = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect(other.status).toBe(200);
  expect(socket!.destroyed).toBe(false);
  const failed = post();
  await expect(once(failed, 'response')).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(failed.reusedSocket).toBe(true);
  expect(handled).toBe(2);
});

test('a forgotten connection may also never answer', async () => {
  await status();
  expect(forget('silence')).toBe(1);
  const stop = new AbortController();
  const silent = post(stop.signal);
  const outcome = once(silent, 'response');
  await once(silent, 'finish');
  // A later request on a new connection is handled first.
  expect(await status()).toBe(200);
  expect(silent.reusedSocket).toBe(true);
  stop.abort();
  await expect(outcome).rejects.toMatchObject({ name: 'AbortError' });
  expect(handled).toBe(2);
});

test('connections that are opened later are not forgotten', async () => {
  expect(forget('reset')).toBe(0);
  expect(await status()).toBe(200);
  expect(await status()).toBe(200);
  expect(handled).toBe(2);
});
