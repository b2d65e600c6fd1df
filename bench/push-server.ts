/**
 * A fast push service for benchmarks, over TLS. It checks the form of a push but does not decrypt it, and responds
 * 201 after a given latency; 410 for paths under `/gone/`. It runs in its own process, sends its port when it listens,
 * and its counts in response to any message.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { certificate } from './certificate.ts';

/** How long a push service takes to respond. */
export interface Latency {
  readonly medianMs: number;
  /** 99th percentile of a log-normal distribution; absent for a constant latency. */
  readonly p99Ms?: number;
}

export interface PushServerCounts {
  /** Pushes with the status 201. */
  readonly accepted: number;
  /** Requests that are not a push: 400. */
  readonly refused: number;
}

const latency = JSON.parse(process.argv[2]!) as Latency;
const counts = { accepted: 0, refused: 0 };

const server = createServer(certificate);
server.on('request', (request, response) => {
  let bodyBytes = 0;
  request.on('data', (chunk: Buffer) => {
    bodyBytes += chunk.length;
  });
  request.on('end', () => {
    const status = statusFor(request, bodyBytes);
    if (status === 201) counts.accepted += 1;
    if (status === 400) counts.refused += 1;
    const respond = () => {
      response.writeHead(status, { location: '/message/1', 'content-length': 0 });
      response.end();
    };
    const latencyMs = drawLatency();
    if (latencyMs === 0) respond();
    else setTimeout(respond, latencyMs);
  });
});

function statusFor({ method, url, headers }: IncomingMessage, bodyBytes: number): number {
  const isPush =
    method === 'POST' &&
    headers['content-encoding'] === 'aes128gcm' &&
    /^(vapid t=|WebPush )/i.test(headers.authorization ?? '') &&
    headers.ttl !== undefined &&
    bodyBytes > 300;
  if (!isPush) return 400;
  return url!.startsWith('/gone/') ? 410 : 201;
}

/** Standard deviations between the median and the 99th percentile of a normal distribution. */
const p99Deviations = 2.326;

/** Draws a latency in ms. */
function drawLatency(): number {
  const { medianMs, p99Ms } = latency;
  if (p99Ms === undefined) return medianMs;
  // Box–Muller transform.
  const { random, sqrt, log, cos, exp, PI } = Math;
  const normal = sqrt(-2 * log(1 - random())) * cos(2 * PI * random());
  return medianMs * exp((normal * log(p99Ms / medianMs)) / p99Deviations);
}

process.on('message', () => process.send!(counts));
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send!({ port: (server.address() as AddressInfo).port });
