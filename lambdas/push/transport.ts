import type { IncomingHttpHeaders } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { http1Transport } from './http1-transport.ts';
import { http2Transport } from './http2-transport.ts';
import { addressOf, type SocketSettings, Sockets } from './sockets.ts';

export interface PushRequest {
  /** Scheme, host and port of the push service. */
  readonly origin: string;
  /** The rest of the endpoint, from its first slash on. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Milliseconds until the push counts as unanswered. */
  readonly timeout: number;
}

export interface PushAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** The first kilobytes: push services explain a refusal in it. */
  readonly body: string;
}

/**
 * Posts one push and reads the answer. Redirects are answers like any other: none is followed.
 * @throws where there is no answer: refused, reset, timed out.
 */
export type Transport = (request: PushRequest) => Promise<PushAnswer>;

/**
 * Pushes over connections that stay open between broadcasts: HTTP/2 to a push service that speaks
 * it, where a hundred pushes share a connection and its handshake, and HTTP/1.1 to any other.
 */
export function pushTransport(settings: SocketSettings): Transport {
  const sockets = new Sockets(settings);
  const http1 = http1Transport(sockets);
  const spoken = new Map<string, Transport | Promise<Transport>>();

  return async (request) => {
    const { origin } = request;
    let transport = spoken.get(origin);
    if (transport === undefined) {
      transport = origin.startsWith('https:') ? askFor(origin, request.timeout) : http1;
      spoken.set(origin, transport);
    }
    if (typeof transport === 'function') return transport(request);

    const since = performance.now();
    const chosen = await transport;
    return chosen({ ...request, timeout: request.timeout - (performance.now() - since) });
  };

  /** The first connection to an origin finds out what it speaks; pushes to it wait for that. */
  async function askFor(origin: string, timeout: number): Promise<Transport> {
    try {
      const socket = await secured(sockets.openTls(addressOf(origin), ['h2', 'http/1.1']), timeout);
      const isHttp2 = socket.alpnProtocol === 'h2';
      const transport = isHttp2 ? http2Transport(origin, sockets, socket) : http1;
      if (!isHttp2) socket.destroy();
      spoken.set(origin, transport);
      return transport;
    } catch (error) {
      spoken.delete(origin);
      throw error;
    }
  }
}

function secured(socket: TLSSocket, timeout: number): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(new Error('No connection in time.')), timeout);
    socket.once('error', reject);
    socket.once('close', () => clearTimeout(timer));
    socket.once('secureConnect', () => {
      clearTimeout(timer);
      socket.off('error', reject);
      resolve(socket);
    });
  });
}
