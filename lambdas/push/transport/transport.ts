import { validateHeaderValue } from 'node:http';
import net, { type LookupFunction, type Socket } from 'node:net';
import tls from 'node:tls';
import {
  NoResponseError,
  NotStartedError,
  ofSocket,
  type PushResponse,
  readResponse,
  UnsendableError,
} from './response.ts';

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

    const pushService = connections.originOf(origin);
    const head =
      `POST ${path} HTTP/1.1\r\nHost: ${pushService.host}\r\n` +
      `${fields}Content-Length: ${body.length}\r\n\r\n`;
    const request = Buffer.allocUnsafe(head.length + body.length);
    request.write(head, 'latin1');
    body.copy(request, head.length);
    return connections.take(pushService).post(request, timeoutMs, mayStart);
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

export interface ConnectionSettings {
  /**
   * Most open connections over all push services, and therefore most pushes in flight. A function
   * has 1,024 file descriptors.
   */
  readonly limit: number;
  /** Certificate authorities, PEM. Default: Node's own. */
  readonly ca?: string;
  /** Resolves host names. Default: the system's resolver. */
  readonly lookup?: LookupFunction;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Does something after some ms. @returns what prevents it. */
  readonly after?: (ms: number, act: () => void) => () => void;
  /** Opens a connection. Default: TCP, with TLS for `https`. */
  readonly connect?: ((url: URL) => Socket) | undefined;
}

function afterMs(ms: number, act: () => void): () => void {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
}

/**
 * Milliseconds for which an idle connection is used again. After that the push service may have
 * closed it; a function that was frozen meanwhile does not notice.
 */
const idleTimeoutMs = 30_000;

/**
 * If a host has several addresses, the next one is tried when one refuses. By default Node also gives
 * up an address after 250 ms, too early for a distant push service: here the push's timeout ends it.
 */
const addressSelection = { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 2 ** 31 - 1 };

/**
 * Origins that are kept, with their TLS sessions. Above it the oldest one without a connection is
 * dropped; there is one, because there are fewer connections.
 */
const capacity = 1000;

interface Origin {
  /** Host and port, as the `Host` header has them. */
  readonly host: string;
  /** Starts a connection. */
  readonly open: () => Socket;
  /** The most recently used one is last. */
  readonly idle: Connection[];
  /** Connections open, idle ones included. */
  connections: number;
}

/** Opens, keeps and limits the connections to push services. */
class Connections {
  readonly #settings: ConnectionSettings;
  readonly #now: () => number;
  readonly #after: NonNullable<ConnectionSettings['after']>;
  // Shared: loading the authorities costs a quarter of a handshake.
  readonly #secureContext: tls.SecureContext;
  readonly #origins = new Map<string, Origin>();
  /** Idle connections of all origins; the longest idle one is first. */
  readonly #idle = new Set<Connection>();
  #open = 0;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    this.#now = settings.now ?? Date.now;
    this.#after = settings.after ?? afterMs;
    this.#secureContext = tls.createSecureContext({ ca: settings.ca });
  }

  originOf(name: string): Origin {
    let origin = this.#origins.get(name);
    if (origin === undefined) {
      const url = new URL(name);
      const open = this.#openerOf(url);
      origin = { host: url.host, open, idle: [], connections: 0 };
      if (this.#origins.size >= capacity) this.#dropOrigin();
      this.#origins.set(name, origin);
    }
    return origin;
  }

  /**
   * Takes an idle connection or opens one. At the limit, the longest idle one of another origin is closed
   * for it.
   * @throws {Error} if all connections are busy: the caller must limit its pushes.
   */
  take(origin: Origin): Connection {
    for (let last = origin.idle.pop(); last !== undefined; last = origin.idle.pop()) {
      this.#idle.delete(last);
      if (this.#now() - last.idleSince < idleTimeoutMs) return last;
      last.close();
    }
    if (this.#open >= this.#settings.limit) this.#closeIdle();
    this.#open += 1;
    origin.connections += 1;
    return new Connection(origin.open(), this.#after, {
      idle: (connection) => {
        connection.idleSince = this.#now();
        origin.idle.push(connection);
        this.#idle.add(connection);
      },
      closed: (connection) => {
        this.#open -= 1;
        origin.connections -= 1;
        if (this.#idle.delete(connection)) origin.idle.splice(origin.idle.indexOf(connection), 1);
      },
    });
  }

  #closeIdle(): void {
    const [longestIdle] = this.#idle;
    if (longestIdle === undefined) throw new Error('Too many pushes at once.');
    longestIdle.close();
  }

  #dropOrigin(): void {
    for (const [name, { connections }] of this.#origins) {
      if (connections > 0) continue;
      this.#origins.delete(name);
      return;
    }
  }

  #openerOf(url: URL): () => Socket {
    const { connect } = this.#settings;
    if (connect !== undefined) return () => connect(url);
    return url.protocol === 'https:' ? this.#secureOpener(url) : this.#plainOpener(url);
  }

  #plainOpener(url: URL): () => Socket {
    const { lookup } = this.#settings;
    return () =>
      net.connect({ host: hostOf(url), port: Number(url.port || 80), lookup, ...addressSelection });
  }

  /** Later handshakes resume the session of an earlier one, which saves checking the certificate. */
  #secureOpener(url: URL): () => Socket {
    const { lookup } = this.#settings;
    const host = hostOf(url);
    let session: Buffer | undefined;
    return () => {
      const socket = tls.connect({
        host,
        port: Number(url.port || 443),
        // The name in the certificate. An IP address is not sent (RFC 6066 §3).
        servername: net.isIP(host) === 0 ? host : '',
        secureContext: this.#secureContext,
        ALPNProtocols: ['http/1.1'],
        lookup,
        ...addressSelection,
        session,
      });
      socket.on('session', (latest) => {
        session = latest;
      });
      return socket;
    };
  }
}

/** The host for a socket: an IPv6 address without the brackets of a URL. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** Bytes of a response that are read: its headers and the part of the body that is used. */
const responseLimitBytes = 32_768;

interface Pending {
  readonly resolve: (response: PushResponse) => void;
  readonly reject: (error: Error) => void;
  readonly cancelTimeOut: () => void;
  isStarted: boolean;
  /** Whether the connection was open before. */
  readonly isReused: boolean;
}

/** Is called when a connection becomes idle, and when it has closed. */
interface ConnectionOwner {
  readonly idle: (connection: Connection) => void;
  readonly closed: (connection: Connection) => void;
}

/** An HTTP/1.1 connection to a push service (RFC 9112). It carries one push at a time. */
class Connection {
  /** Milliseconds since the epoch; for the owner. */
  idleSince = 0;
  readonly #socket: Socket;
  readonly #after: NonNullable<ConnectionSettings['after']>;
  readonly #owner: ConnectionOwner;
  #pending: Pending | undefined;
  /** The response so far, as Latin-1. */
  #received = '';
  /** Whether any byte of it has come, also if it is malformed. */
  #hasReceived = false;
  #isOpen = false;
  #isClosed = false;

  /** @param socket connected, or connecting. */
  constructor(
    socket: Socket,
    after: NonNullable<ConnectionSettings['after']>,
    owner: ConnectionOwner,
  ) {
    this.#socket = socket;
    this.#after = after;
    this.#owner = owner;
    socket.setNoDelay(true);
    // A pending push has a timer that keeps the process running. An idle connection must not.
    socket.unref();
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', (error) => this.#fail(ofSocket(error)));
    socket.on('close', () => this.close());
  }

  /**
   * @param request head and body, together, so that they are sent in one TLS record.
   * @param timeoutMs until the response, the time to connect included.
   * @param mayStart is asked when the connection is open, right before the first byte.
   */
  post(request: Buffer, timeoutMs: number, mayStart: () => boolean): Promise<PushResponse> {
    return new Promise((resolve, reject) => {
      const cancelTimeOut = this.#after(timeoutMs, () => this.#timeOut());
      const isReused = this.#isOpen;
      this.#pending = { resolve, reject, cancelTimeOut, isStarted: false, isReused };
      this.#received = '';
      this.#hasReceived = false;
      const start = () => this.#start(request, mayStart);
      if (this.#isOpen) start();
      // Only the first push of a connection comes before it is open.
      else
        this.#socket.once(
          this.#socket instanceof tls.TLSSocket ? 'secureConnect' : 'connect',
          start,
        );
    });
  }

  #start(request: Buffer, mayStart: () => boolean): void {
    this.#isOpen = true;
    // Its time may be over.
    if (this.#pending === undefined) return;
    if (mayStart()) {
      this.#pending.isStarted = true;
      this.#socket.write(request);
    } else {
      const { reject } = this.#release();
      reject(new NotStartedError());
    }
  }

  #timeOut(): void {
    this.#fail(new NoResponseError('No response in time.', { isTimeout: true }));
  }

  close(): void {
    this.#fail(new NoResponseError('The connection was closed.'));
  }

  /** Closes the connection. A pending push fails, unless its status has been received. */
  #fail(error: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (error instanceof NoResponseError) error.mayHaveArrived = this.#mayHaveArrived(error);
    this.#socket.destroy();
    this.#owner.closed(this);
    this.#settle(error);
  }

  /**
   * After the last byte, the push service may have accepted the push, whatever becomes of the response. But it may have
   * closed a reused connection just before: then it sends nothing (RFC 9112 §9.3.1).
   */
  #mayHaveArrived({ isTimeout }: NoResponseError): boolean {
    if (!this.#pending?.isStarted || this.#socket.writableLength > 0) return false;
    return !this.#pending.isReused || this.#hasReceived || isTimeout;
  }

  #read(chunk: Buffer): void {
    // Unexpected data could be taken for the response to the next push.
    if (this.#pending === undefined) {
      this.close();
      return;
    }
    this.#hasReceived = true;
    this.#received += chunk.toString('latin1');
    try {
      const parsed = readResponse(this.#received);
      if (parsed?.reusable) this.#release().resolve(parsed.response);
      else if (parsed?.complete || this.#received.length > responseLimitBytes) this.close();
    } catch (error) {
      this.#received = '';
      this.#fail(error as Error);
    }
  }

  /** The connection is idle. @returns what was pending. */
  #release(): Pending {
    const pending = this.#end();
    this.#owner.idle(this);
    return pending;
  }

  #settle(error: Error): void {
    if (this.#pending === undefined) return;
    const { resolve, reject } = this.#end();
    // The status is final even if the body is incomplete.
    const parsed = this.#received === '' ? undefined : readResponse(this.#received);
    if (parsed === undefined) reject(error);
    else resolve(parsed.response);
  }

  #end(): Pending {
    const pending = this.#pending!;
    pending.cancelTimeOut();
    this.#pending = undefined;
    return pending;
  }
}
