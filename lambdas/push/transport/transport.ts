import { validateHeaderValue } from 'node:http';
import { type ConnectionSettings, Connections } from './connections.ts';
import type { PushResponse } from './read-response.ts';

export interface PushRequest {
  /** Scheme, host and port of the push service. */
  readonly origin: string;
  /** The rest of the endpoint, from its first slash on, in a URL's own spelling. */
  readonly path: string;
  /** Without `Host` and `Content-Length`. One object may serve many pushes, and is then read once. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Milliseconds until the push counts as unanswered. */
  readonly timeout: number;
}

/**
 * Posts one push and reads the answer. Redirects are answers like any other: none is followed.
 * @throws where there is no answer: refused, reset, timed out.
 */
export type Transport = (request: PushRequest) => Promise<PushResponse>;

/**
 * Pushes over HTTP/1.1 connections that stay open between broadcasts, one push at a time on each:
 * a POST is not to be pipelined, since after a break nobody could tell which ones had been taken
 * (RFC 9112 §9.3.2).
 */
export function pushTransport(settings: ConnectionSettings): Transport {
  const connections = new Connections(settings);
  const written = new WeakMap<PushRequest['headers'], string>();

  return async ({ origin, path, headers, body, timeout }) => {
    let fields = written.get(headers);
    if (fields === undefined) {
      fields = fieldLines(headers);
      written.set(headers, fields);
    }
    // Anything else would be cut to its low byte, and some of those end a line.
    if (!/^\/[!-~]*$/.test(path)) throw new TypeError('The path is not in a URL’s spelling.');

    const head =
      `POST ${path} HTTP/1.1\r\nHost: ${connections.hostOf(origin)}\r\n` +
      `${fields}Content-Length: ${body.length}\r\n\r\n`;
    const request = Buffer.allocUnsafe(head.length + body.length);
    request.write(head, 'latin1');
    body.copy(request, head.length);
    return connections.take(origin).post(request, timeout);
  };
}

function fieldLines(headers: PushRequest['headers']): string {
  return Object.entries(headers)
    .map(([name, value]) => {
      validateHeaderValue(name, value);
      return `${name}: ${value}\r\n`;
    })
    .join('');
}
