import http from 'node:http';
import https from 'node:https';

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
  readonly headers: http.IncomingHttpHeaders;
  /** The first kilobytes: push services explain a refusal in it. */
  readonly body: string;
}

/**
 * Posts one push and reads the answer. Redirects are answers like any other: none is followed.
 * @throws where there is no answer: refused, reset, timed out.
 */
export type Transport = (request: PushRequest) => Promise<PushAnswer>;

/** Bytes of an answer that are read; what comes after is cut off with its connection. */
const bodyLimit = 4096;

/**
 * Pushes over HTTP/1.1 connections that stay open between broadcasts.
 * @param sockets most connections, over all push services. A function has 1,024 descriptors.
 */
export function keepAliveTransport(sockets: number): Transport {
  const options = { keepAlive: true, maxSockets: sockets, maxTotalSockets: sockets };
  const secure = { agent: new https.Agent(options), request: https.request };
  const plain = { agent: new http.Agent(options), request: http.request };

  return ({ origin, path, headers, body, timeout }) => {
    const { agent, request } = origin.startsWith('https:') ? secure : plain;
    return new Promise((resolve, reject) => {
      const push = request(origin + path, {
        method: 'POST',
        agent,
        headers: { ...headers, 'content-length': body.length },
        signal: AbortSignal.timeout(timeout),
      });
      push.once('error', reject);
      push.once('response', (answer) => {
        const chunks: Buffer[] = [];
        let length = 0;
        const finish = () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            body: Buffer.concat(chunks).toString('utf8', 0, bodyLimit),
          });
        answer.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          length += chunk.length;
          if (length > bodyLimit) answer.destroy();
        });
        // The status is known: a body that breaks off changes nothing of it.
        answer.once('error', finish);
        answer.once('close', finish);
      });
      push.end(body);
    });
  };
}
