import net, { type Socket } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';

export interface SocketSettings {
  /** Most sockets open at once, over all push services. A function has 1,024 descriptors. */
  readonly limit: number;
  /** How every TLS connection is made besides: certificate authorities, name lookup. */
  readonly tls?: Pick<tls.ConnectionOptions, 'ca' | 'lookup'>;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * The one place where connections are made. It keeps within a limit by closing idle ones, and
 * resumes TLS sessions, which saves a handshake's costly half: checking the certificate.
 */
export class Sockets {
  readonly #settings: SocketSettings;
  readonly #tlsSessions = new Map<string, Buffer>();
  readonly #holders: (() => boolean)[] = [];
  #open = 0;

  constructor(settings: SocketSettings) {
    this.#settings = settings;
  }

  /** Registers who closes an idle connection when one is asked for, and tells whether it had any. */
  addHolder(giveUpIdle: () => boolean): void {
    this.#holders.push(giveUpIdle);
  }

  /** @param protocols offered for the connection (RFC 7301), the preferred one first. */
  openTls({ host, port }: Address, protocols: readonly string[]): TLSSocket {
    const address = `${host}:${port}`;
    const socket = this.#counted(() =>
      tls.connect({
        ...this.#settings.tls,
        host,
        port,
        // The name that the certificate is to show (RFC 6066 §3); an IP address is sent as none.
        servername: net.isIP(host) === 0 ? host : '',
        ALPNProtocols: [...protocols],
        session: this.#tlsSessions.get(address),
      }),
    );
    socket.on('session', (session) => this.#tlsSessions.set(address, session));
    socket.once('error', () => this.#tlsSessions.delete(address));
    return socket;
  }

  openPlain({ host, port }: Address): Socket {
    return this.#counted(() => net.connect({ host, port }));
  }

  #counted<Opened extends Socket>(open: () => Opened): Opened {
    if (this.#open >= this.#settings.limit) this.#closeIdle();
    const socket = open();
    this.#open += 1;
    socket.once('close', () => {
      this.#open -= 1;
    });
    socket.setNoDelay(true);
    return socket;
  }

  #closeIdle(): void {
    for (const giveUpIdle of this.#holders) {
      if (giveUpIdle()) return;
    }
  }
}

/** The address of an origin. */
export function addressOf(origin: string): Address {
  const { protocol, hostname, port } = new URL(origin);
  const defaultPort = protocol === 'https:' ? 443 : 80;
  // An IPv6 address stands in brackets in a URL, and nowhere else.
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || defaultPort) };
}
