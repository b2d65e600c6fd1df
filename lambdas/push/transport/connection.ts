import type { Socket } from 'node:net';
import { NoResponseError, ofSocket } from './errors.ts';
import { type PushResponse, readResponse } from './read-response.ts';

/** Bytes of a response that are read: its headers and the part of the body that is used. */
const responseLimitBytes = 32_768;

interface Pending {
  readonly resolve: (response: PushResponse) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Is called when a connection becomes idle, and when it has closed. */
export interface ConnectionOwner {
  readonly idle: (connection: Connection) => void;
  readonly closed: (connection: Connection) => void;
}

/** An HTTP/1.1 connection to a push service (RFC 9112). It carries one push at a time. */
export class Connection {
  /** Milliseconds since the epoch; for the owner. */
  idleSince = 0;
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  #pending: Pending | undefined;
  /** The response so far, as Latin-1. */
  #received = '';
  #isClosed = false;

  /** @param socket connected, or connecting. */
  constructor(socket: Socket, owner: ConnectionOwner) {
    this.#socket = socket;
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
   */
  post(request: Buffer, timeoutMs: number): Promise<PushResponse> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#fail(new NoResponseError('No response in time.', { isTimeout: true }));
      }, timeoutMs);
      this.#pending = { resolve, reject, timer };
      this.#received = '';
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#fail(new NoResponseError('The connection was closed.'));
  }

  /** Closes the connection. A pending push fails, unless its status has been received. */
  #fail(error: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.destroy();
    this.#owner.closed(this);
    this.#settle(error);
  }

  #read(chunk: Buffer): void {
    // Unexpected data could be taken for the response to the next push.
    if (this.#pending === undefined) {
      this.close();
      return;
    }
    this.#received += chunk.toString('latin1');
    try {
      const parsed = readResponse(this.#received);
      if (parsed?.reusable) this.#release(parsed.response);
      else if (parsed?.complete || this.#received.length > responseLimitBytes) this.close();
    } catch (error) {
      this.#received = '';
      this.#fail(error as Error);
    }
  }

  #release(response: PushResponse): void {
    const { resolve, timer } = this.#pending!;
    clearTimeout(timer);
    this.#pending = undefined;
    this.#owner.idle(this);
    resolve(response);
  }

  #settle(error: Error): void {
    if (this.#pending === undefined) return;
    const { resolve, reject, timer } = this.#pending;
    clearTimeout(timer);
    this.#pending = undefined;
    // The status is final even if the body is incomplete.
    const parsed = this.#received === '' ? undefined : readResponse(this.#received);
    if (parsed === undefined) reject(error);
    else resolve(parsed.response);
  }
}
