import net, { type LookupFunction, type Socket } from 'node:net';
import tls from 'node:tls';
import { Connection } from './connection.ts';

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
export class Connections {
  readonly #settings: ConnectionSettings;
  readonly #now: () => number;
  // Shared: loading the authorities costs a quarter of a handshake.
  readonly #secureContext: tls.SecureContext;
  readonly #origins = new Map<string, Origin>();
  /** Idle connections of all origins; the longest idle one is first. */
  readonly #idle = new Set<Connection>();
  #open = 0;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    this.#now = settings.now ?? Date.now;
    this.#secureContext = tls.createSecureContext({ ca: settings.ca });
  }

  hostOf(origin: string): string {
    return this.#originOf(origin).host;
  }

  /**
   * Takes an idle connection or opens one. At the limit, the longest idle one of another origin is closed
   * for it.
   * @throws {Error} if all connections are busy: the caller must limit its pushes.
   */
  take(name: string): Connection {
    const origin = this.#originOf(name);
    for (let last = origin.idle.pop(); last !== undefined; last = origin.idle.pop()) {
      this.#idle.delete(last);
      if (this.#now() - last.idleSince < idleTimeoutMs) return last;
      last.close();
    }
    if (this.#open >= this.#settings.limit) this.#closeIdle();
    this.#open += 1;
    origin.connections += 1;
    return new Connection(origin.open(), {
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

  #originOf(name: string): Origin {
    let origin = this.#origins.get(name);
    if (origin === undefined) {
      const url = new URL(name);
      const open = url.protocol === 'https:' ? this.#secureOpener(url) : this.#plainOpener(url);
      origin = { host: url.host, open, idle: [], connections: 0 };
      if (this.#origins.size >= capacity) this.#dropOrigin();
      this.#origins.set(name, origin);
    }
    return origin;
  }

  #dropOrigin(): void {
    for (const [name, { connections }] of this.#origins) {
      if (connections > 0) continue;
      this.#origins.delete(name);
      return;
    }
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
