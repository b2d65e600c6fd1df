import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { Invocation } from './invocation.ts';

/** What a peer does with a connection. */
export interface Peer {
  /** Ms until it is open; undefined: it is refused, or never opens. */
  opensAfterMs: number | undefined;
  isRefused: boolean;
  /** A request has arrived on it. */
  readonly onRequest: (request: Buffer, connection: SimulatedConnection, run: Invocation) => void;
}

/** A connection of a function to a peer, as far as `transport.ts` uses a socket. What happens on it happens to its function. */
export class SimulatedConnection extends EventEmitter {
  /** Bytes that have not left the function. */
  writableLength = 0;
  /** Whether it was open before the request: the peer may have closed it just then. */
  isReused = false;
  readonly #running: () => Invocation;
  readonly #peer: Peer;
  /** What is still to happen since the last request. A stream keeps its order, also while its function stands still. */
  #coming: (() => void)[] = [];
  #isClosed = false;

  constructor(running: () => Invocation, peer: Peer) {
    super();
    this.#running = running;
    this.#peer = peer;
    if (peer.isRefused) this.#later(peer.opensAfterMs ?? 0, () => this.breaks('ECONNREFUSED'));
    else if (peer.opensAfterMs !== undefined) {
      this.#later(peer.opensAfterMs, () => {
        this.emit('connect');
        this.isReused = true;
      });
    }
  }

  /** As a socket. */
  asSocket(): Socket {
    return this as unknown as Socket;
  }

  setNoDelay(): void {}
  unref(): void {}

  write(request: Buffer): void {
    this.#coming = [];
    this.#peer.onRequest(request, this, this.#running());
  }

  destroy(): void {
    this.#isClosed = true;
  }

  /** The peer responds some ms from now. @param onHeard is called when the function has it. */
  responds(inMs: number, bytes: string, onHeard = () => {}): void {
    this.#later(inMs, () => {
      onHeard();
      this.emit('data', Buffer.from(bytes, 'latin1'));
    });
  }

  /** The peer closes it, or it breaks with this code. @param onBroken is called then. */
  closes(inMs: number, code?: string, onBroken = () => {}): void {
    this.#later(inMs, () => {
      onBroken();
      if (code === undefined) this.emit('close');
      else this.breaks(code);
    });
  }

  breaks(code: string): void {
    this.emit('error', Object.assign(new Error(code), { code }));
  }

  /** Does something, unless the invocation has ended by then. */
  #later(ms: number, act: () => void): void {
    const coming = this.#coming;
    coming.push(act);
    this.#running().after(ms, () => {
      const next = coming.shift()!;
      if (!this.#isClosed) next();
    });
  }
}
