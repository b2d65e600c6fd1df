import net, { type LookupFunction, type Socket } from 'node:net';
import tls from 'node:tls';
import { Connection } from './connection.ts';

export interface ConnectionSettings {
  /**
   * Most connections open at once, over all push services, and so the most pushes in flight. A
   * function has 1,024 descriptors.
   */
  readonly limit: number;
  /** Certificate authorities in place of Node's own, PEM. */
  readonly ca?: string;
  /** Resolves host names in place of the system's. */
  readonly lookup?: LookupFunction;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/**
 * Milliseconds after which an idle connection is not used again: its other end may have left it,
 * unnoticed where the function was frozen meanwhile.
 */
const idleLimit = 30_000;

/**
 * Where a host has several addresses, the next one is tried when one refuses. Node would also give
 * one up that has not accepted after 250 ms, which a distant push service needs: here the push's own
 * timeout ends it.
 */
const tryingAddresses = { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 2 ** 31 - 1 };

/**
 * Origins one function remembers; past it the oldest without a connection is forgotten. It is above
 * the limit of connections, so there is one.
 */
const capacity = 1000;

interface Origin {
  /** Host and port, as the `Host` header has them. */
  readonly host: string;
  /** Starts a connection. */
  readonly open: () => Socket;
  /** The one used last is last. */
  readonly idle: Connection[];
  /** Connections open, idle ones included. */
  connections: number;
}

/** Connections to push services, and the one place where they are made. */
export class Connections {
  readonly #settings: ConnectionSettings;
  readonly #now: () => number;
  // Reading the authorities costs a fourth of a handshake, and they are the same for all.
  readonly #secureContext: tls.SecureContext;
  readonly #origins = new Map<string, Origin>();
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
   * Takes an idle connection or starts one, for which an idle one of another push service may have
   * to go.
   * @throws {Error} where all are busy.
   */
  take(name: string): Connection {
    const origin = this.#originOf(name);
    for (let last = origin.idle.pop(); last !== undefined; last = origin.idle.pop()) {
      if (this.#now() - last.idleSince < idleLimit) return last;
      last.close();
    }
    if (this.#open >= this.#settings.limit) this.#closeIdle();
    this.#open += 1;
    origin.connections += 1;
    return new Connection(origin.open(), {
      idle: (connection) => {
        connection.idleSince = this.#now();
        origin.idle.push(connection);
      },
      ended: (connection) => {
        this.#open -= 1;
        origin.connections -= 1;
        const index = origin.idle.indexOf(connection);
        if (index !== -1) origin.idle.splice(index, 1);
      },
    });
  }

  #closeIdle(): void {
    for (const { idle } of this.#origins.values()) {
      const [oldest] = idle;
      if (oldest === undefined) continue;
      oldest.close();
      return;
    }
    throw new Error('Too many pushes at once.');
  }

  #originOf(name: string): Origin {
    let origin = this.#origins.get(name);
    if (origin === undefined) {
      const url = new URL(name);
      const open = url.protocol === 'https:' ? this.#secureOpener(url) : this.#plainOpener(url);
      origin = { host: url.host, open, idle: [], connections: 0 };
      if (this.#origins.size >= capacity) this.#forgetOrigin();
      this.#origins.set(name, origin);
    }
    return origin;
  }

  #forgetOrigin(): void {
    for (const [name, { connections }] of this.#origins) {
      if (connections > 0) continue;
      this.#origins.delete(name);
      return;
    }
  }

  #plainOpener(url: URL): () => Socket {
    const { lookup } = this.#settings;
    return () =>
      net.connect({ host: hostOf(url), port: Number(url.port || 80), lookup, ...tryingAddresses });
  }

  /** Later handshakes resume the session of an earlier one, which spares the certificate's check. */
  #secureOpener(url: URL): () => Socket {
    const { lookup } = this.#settings;
    const host = hostOf(url);
    let session: Buffer | undefined;
    return () => {
      const socket = tls.connect({
        host,
        port: Number(url.port || 443),
        // The name that the certificate must bear; an address is not sent as one (RFC 6066 §3).
        servername: net.isIP(host) === 0 ? host : '',
        secureContext: this.#secureContext,
        ALPNProtocols: ['http/1.1'],
        lookup,
        ...tryingAddresses,
        session,
      });
      socket.on('session', (latest) => {
        session = latest;
      });
      return socket;
    };
  }
}

/** The host as connections take it: an IPv6 address without a URL's brackets. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}
