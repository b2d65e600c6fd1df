import { validateHeaderValue } from 'node:http';
import { type ConnectionSettings, Connections } from './connections.ts';
import { type PushResponse, UnsendableError } from './response.ts';

export interface PushRequest {
  /** Scheme, host and port of the push service. */
  readonly origin: string;
  /** The rest of the endpoint, from its first slash on, percent-encoded. */
  readonly path: string;
  /** Without `Host` and `Content-Length`. An object that is used for many pushes is written once. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Milliseconds until the push fails without a response. */
  readonly timeoutMs: number;
  /** Is asked right before the first byte: a connection may take seconds to open. */
  readonly mayStart: () => boolean;
}

/**
 * Posts one push and reads the response. Redirects are not followed.
 * @throws {UnsendableError} if it cannot be sent as it is.
 * @throws {NotStartedError} if it might not start.
 * @throws {NoResponseError} without a response: connection refused, reset or timed out.
 */
export type Transport = (request: PushRequest) => Promise<PushResponse>;

/**
 * Pushes over HTTP/1.1 connections that stay open between broadcasts, one push at a time on each.
 * Pipelined POSTs could not be retried after a broken connection, because nobody knows which ones
 * were accepted (RFC 9112 §9.3.2).
 */
export function pushTransport(settings: ConnectionSettings): Transport {
  const connections = new Connections(settings);
  const cachedFields = new WeakMap<PushRequest['headers'], string>();

  return async ({ origin, path, headers, body, timeoutMs, mayStart }) => {
    let fields = cachedFields.get(headers);
    if (fields === undefined) {
      fields = fieldLines(headers);
      cachedFields.set(headers, fields);
    }
    // latin1 keeps the low byte: U+010A would become LF and split the request.
    if (!/^\/[!-~]*$/.test(path)) throw new UnsendableError('The path is not percent-encoded.');

    const head =
      `POST ${path} HTTP/1.1\r\nHost: ${connections.hostOf(origin)}\r\n` +
      `${fields}Content-Length: ${body.length}\r\n\r\n`;
    const request = Buffer.allocUnsafe(head.length + body.length);
    request.write(head, 'latin1');
    body.copy(request, head.length);
    return connections.take(origin).post(request, timeoutMs, mayStart);
  };
}

function fieldLines(headers: PushRequest['headers']): string {
  return Object.entries(headers)
    .map(([name, value]) => {
      try {
        validateHeaderValue(name, value);
      } catch (error) {
        throw new UnsendableError('Malformed request header.', { cause: error });
      }
      return `${name}: ${value}\r\n`;
    })
    .join('');
}
