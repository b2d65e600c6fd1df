/**
 * A fast push service for benchmarks, over TLS. It checks the form of a push
 * but does not decrypt it, and responds 201 after a given latency; 410 for paths under `/gone/`.
 *
 * Runs in its own process, started with a latency in JSON as argument. It sends its port when it
 * listens, and its counts in response to any message.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { certificate } from './certificate.ts';
import { drawLatency, type Latency } from './latency.ts';

export interface PushServerCounts {
  readonly handshakes: number;
  /** All requests. */
  readonly received: number;
  /** Pushes with the status 201. */
  readonly accepted: number;
  /** Requests that are not a push: 400. */
  readonly refused: number;
}

const latency = JSON.parse(process.argv[2]!) as Latency;
const counts = { handshakes: 0, received: 0, accepted: 0, refused: 0 };

const server = createServer(certificate);
server.on('secureConnection', () => {
  counts.handshakes += 1;
});
server.on('request', (request, response) => {
  let bodyBytes = 0;
  request.on('data', (chunk: Buffer) => {
    bodyBytes += chunk.length;
  });
  request.on('end', () => {
    const status = statusFor(request, bodyBytes);
    counts.received += 1;
    if (status === 201) counts.accepted += 1;
    if (status === 400) counts.refused += 1;
    const respond = () => {
      response.writeHead(status, { location: '/message/1', 'content-length': 0 });
      response.end();
    };
    const latencyMs = drawLatency(latency, Math.random);
    if (latencyMs === 0) respond();
    else setTimeout(respond, latencyMs);
  });
});

function statusFor(request: IncomingMessage, bodyBytes: number): number {
  if (!isPush(request, bodyBytes)) return 400;
  return request.url!.startsWith('/gone/') ? 410 : 201;
}

function isPush({ method, headers }: IncomingMessage, bodyBytes: number): boolean {
  return (
    method === 'POST' &&
    headers['content-encoding'] === 'aes128gcm' &&
    /^(vapid t=|WebPush )/i.test(headers.authorization ?? '') &&
    headers.ttl !== undefined &&
    bodyBytes > 300
  );
}

process.on('message', () => process.send!(counts));
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send!({ port: (server.address() as AddressInfo).port });
