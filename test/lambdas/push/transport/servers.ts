import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo, type LookupFunction, type Server, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { certificate } from '../../../../bench/certificate.ts';
import type { PushRequest } from '../../../../lambdas/push/transport/transport.ts';

const servers: Server[] = [];
const workers: Worker[] = [];

/** Open connections to the servers of this file, on the server's side. */
export const sockets = new Set<Socket>();

/** For `afterEach`. */
export async function closeServers(): Promise<void> {
  for (const socket of sockets) socket.destroy();
  await Promise.all(workers.splice(0).map((worker) => worker.terminate()));
  await Promise.all(servers.splice(0).map((server) => once(server.close(), 'close')));
}

/** @returns the origin. */
export async function listen(server: Server, scheme: 'http' | 'https'): Promise<string> {
  servers.push(server);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts a server that accepts every push and counts its connections. */
export async function acceptingServer(
  handler: http.RequestListener = (_, response) => accept(response),
) {
  const server = http.createServer(handler);
  const counts = { connections: 0 };
  server.on('connection', () => {
    counts.connections += 1;
  });
  return { origin: await listen(server, 'http'), counts };
}

/** Starts a TLS server that accepts every push. `resumed` has one entry per connection. */
export async function acceptingTlsServer() {
  const server = https.createServer(certificate, (_, response) => accept(response));
  server.on('tlsClientError', () => {});
  const resumed: boolean[] = [];
  server.on('secureConnection', (socket) => resumed.push(socket.isSessionReused()));
  return { origin: await listen(server, 'https'), resumed };
}

export function accept(response: http.ServerResponse): void {
  response.writeHead(201, { 'content-length': 0 }).end();
}

/** Starts a server that responds with these bytes to the first bytes of a connection. */
export function rawServer(text: string, then?: (socket: Socket) => void): Promise<string> {
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(text, 'latin1', () => then?.(socket));
    });
  });
  return listen(server, 'http');
}

/**
 * Starts a server whose queue of new connections is full, so that the next SYN is dropped. After
 * `release` it accepts every connection and every push. The client's kernel sends the SYN again after
 * one second, so a connection that was started before takes at least that long.
 */
export async function busyServer() {
  const released = new Int32Array(new SharedArrayBuffer(4));
  const source = `
    const { parentPort, workerData: released } = require('node:worker_threads');
    const accept = 'HTTP/1.1 201 Created\\r\\nContent-Length: 0\\r\\n\\r\\n';
    const server = require('node:net').createServer((socket) => {
      socket.on('error', () => {}).on('data', () => socket.write(accept));
    });
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      parentPort.postMessage(server.address().port);
      Atomics.wait(released, 0, 0);
    });`;
  const worker = new Worker(source, { eval: true, workerData: released });
  workers.push(worker);
  const [port] = (await once(worker, 'message')) as [number];
  // More connections than the queue holds. Those that are still connecting are destroyed: they would
  // send their SYN again at the same time as the push.
  const queued = Array.from({ length: 8 }, () => net.connect(port, '127.0.0.1'));
  for (const socket of queued) sockets.add(socket);
  await once(queued[0]!, 'connect');
  for (const socket of queued.filter(({ connecting }) => connecting)) socket.destroy();
  const release = () => {
    Atomics.store(released, 0, 1);
    Atomics.notify(released, 0);
  };
  return { port, release };
}

/** Resolves every name to these addresses. */
export function resolvingTo(...addresses: readonly string[]): LookupFunction {
  return (_, __, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: net.isIP(address) })),
    );
}

export function request(overrides: Partial<PushRequest> & { origin: string }): PushRequest {
  return {
    ...{ path: '/push/1', headers: { TTL: '60' }, body: Buffer.from('body') },
    ...{ timeoutMs: 10_000, mayStart: () => true },
    ...overrides,
  };
}
