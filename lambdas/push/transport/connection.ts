import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { NoResponseError, NotStartedError, ofSocket } from './errors.ts';
import { type PushResponse, readResponse } from './read-response.ts';

/** Bytes of a response that are read: its headers and the part of the body that is used. */
const responseLimitBytes = 32_768;

interface Pending {
  readonly resolve: (response: PushResponse) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
  isStarted: boolean;
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
  #isOpen = false;
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
   * @param mayStart is asked when the connection is open, right before the first byte.
   */
  post(request: Buffer, timeoutMs: number, mayStart: () => boolean): Promise<PushResponse> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#timeOut(), timeoutMs);
      this.#pending = { resolve, reject, timer, isStarted: false };
      this.#received = '';
      const start = () => this.#start(request, mayStart);
      if (this.#isOpen) start();
      // Only the first push of a connection comes before it is open.
      else
        this.#socket.once(this.#socket instanceof TLSSocket ? 'secureConnect' : 'connect', start);
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
    const isSent = this.#pending!.isStarted && this.#socket.writableLength === 0;
    this.#fail(new NoResponseError('No response in time.', { isTimeout: true, isSent }));
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
    clearTimeout(pending.timer);
    this.#pending = undefined;
    return pending;
  }
}
