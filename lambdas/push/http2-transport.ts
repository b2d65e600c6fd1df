import http2, { type ClientHttp2Session } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { AnswerBody } from './answer-body.ts';
import { addressOf, type Sockets } from './sockets.ts';
import type { Transport } from './transport.ts';

/** Pushes on one connection at once, where the push service allows as many. */
const streamsEach = 100;

/**
 * Milliseconds without a byte after which a connection is closed. It is longer than a push may
 * take, and short enough that one which died unnoticed while its function was frozen is not used.
 */
const idleTimeout = 30_000;

interface Connection {
  readonly session: ClientHttp2Session;
  /** Streams the push service allows at once, as far as is known. */
  room: number;
  streams: number;
}

/**
 * Pushes to one origin over HTTP/2 (RFC 9113).
 * @param first a connection to the origin on which `h2` was agreed.
 */
export function http2Transport(origin: string, sockets: Sockets, first: TLSSocket): Transport {
  const connections = new Set<Connection>();
  add(first);
  sockets.addHolder(() => {
    for (const connection of connections) {
      if (connection.streams > 0) continue;
      retire(connection);
      return true;
    }
    return false;
  });

  return ({ path, headers, body, timeout }) =>
    new Promise((resolve, reject) => {
      const connection = take();
      const stream = connection.session.request({
        ':method': 'POST',
        ':path': path,
        ...headers,
        'content-length': body.length,
      });
      const text = new AnswerBody();
      let answered: (http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader) | undefined;
      let failure: Error | undefined;
      const timer = setTimeout(() => {
        failure = new Error('No answer in time.');
        // The connection may be what is at fault: another attempt shall have a new one.
        retire(connection);
        stream.close(http2.constants.NGHTTP2_CANCEL);
      }, timeout);
      stream.once('response', (answer) => {
        answered = answer;
      });
      stream.on('data', (chunk: Buffer) => {
        if (!text.add(chunk)) stream.close(http2.constants.NGHTTP2_CANCEL);
      });
      stream.on('error', (error) => {
        failure = error;
      });
      stream.once('close', () => {
        clearTimeout(timer);
        release(connection);
        // Once the status is known, a body that breaks off changes nothing of it.
        if (answered === undefined) reject(failure ?? new Error('The stream ended unanswered.'));
        else resolve({ status: answered[':status']!, headers: answered, body: text.toString() });
      });
      stream.end(body);
    });

  function take(): Connection {
    let found: Connection | undefined;
    for (const connection of connections) {
      if (connection.streams < connection.room) {
        found = connection;
        break;
      }
    }
    found ??= add(sockets.openTls(addressOf(origin), ['h2']));
    if (found.streams === 0) found.session.ref();
    found.streams += 1;
    return found;
  }

  function release(connection: Connection): void {
    connection.streams -= 1;
    // An idle connection is no reason for the process to stay.
    if (connection.streams === 0) connection.session.unref();
  }

  function add(socket: TLSSocket): Connection {
    const session = http2.connect(origin, {
      createConnection: () => socket,
      settings: { enablePush: false },
    });
    const connection: Connection = { session, room: streamsEach, streams: 0 };
    connections.add(connection);
    session.once('remoteSettings', ({ maxConcurrentStreams = streamsEach }) => {
      connection.room = Math.max(1, Math.min(streamsEach, maxConcurrentStreams));
    });
    session.setTimeout(idleTimeout, () => retire(connection));
    session.once('goaway', () => retire(connection));
    // Each of its streams meets the error as well.
    session.on('error', () => retire(connection));
    session.once('close', () => connections.delete(connection));
    return connection;
  }

  /** Starts nothing more on a connection; it closes when the last of its pushes has ended. */
  function retire(connection: Connection): void {
    connections.delete(connection);
    if (!connection.session.destroyed) connection.session.close();
  }
}
