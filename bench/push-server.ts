/**
 * A push service in a process of its own: it takes every push that looks like one, and answers 201
 * after the latency given, or 410 below `/gone/`. It speaks HTTP/2 and HTTP/1.1 over TLS, as its client likes.
 *
 * Started by `startPushServer`; tells its port once it listens, and its counts when asked.
 */
import { once } from 'node:events';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { certificate } from '../local/push-service/certificate.ts';
import { drawLatency, type Latency } from './latency.ts';

export interface PushServerCounts {
  readonly handshakes: number;
  /** Handshakes that resumed an earlier session. */
  readonly resumed: number;
  /** Pushes, whatever became of them. */
  readonly received: number;
  readonly accepted: number;
  /** Those that were no pushes. */
  readonly refused: number;
}

const latency = JSON.parse(process.argv[2]!) as Latency;
const counts = { handshakes: 0, resumed: 0, received: 0, accepted: 0, refused: 0 };

const server = createSecureServer({ ...certificate, allowHTTP1: true });
server.on('secureConnection', (socket) => {
  counts.handshakes += 1;
  if (socket.isSessionReused()) counts.resumed += 1;
});
server.on('request', (request: Http2ServerRequest, response: Http2ServerResponse) => {
  let length = 0;
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
  });
  request.on('end', () => {
    const status = statusFor(request, length);
    counts.received += 1;
    if (status === 201) counts.accepted += 1;
    if (status === 400) counts.refused += 1;
    const answer = () => {
      response.writeHead(status, { location: '/message/1', 'content-length': 0 });
      response.end();
    };
    const wait = drawLatency(latency, Math.random);
    if (wait === 0) answer();
    else setTimeout(answer, wait);
  });
});

function statusFor(request: Http2ServerRequest, length: number): number {
  if (!isPush(request, length)) return 400;
  return request.url.startsWith('/gone/') ? 410 : 201;
}

/** Encrypted, authorized and with a TTL, as far as it shows without a look inside. */
function isPush({ method, headers }: Http2ServerRequest, length: number): boolean {
  return (
    method === 'POST' &&
    // The second is the draft's, which @pushforge/builder still writes.
    ['aes128gcm', 'aesgcm'].includes(headers['content-encoding'] ?? '') &&
    /^(vapid t=|WebPush )/i.test(headers.authorization ?? '') &&
    headers.ttl !== undefined &&
    length > 300
  );
}

process.on('message', () => process.send!(counts));
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send!({ port: (server.address() as AddressInfo).port });
