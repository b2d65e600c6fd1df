import type { Socket } from 'node:net';
import { type PushResponse, readResponse } from './read-response.ts';

/** Bytes of an answer after which no more is waited for: its headers, a body's begin, its framing. */
const answerLimit = 32_768;

interface Waiting {
  readonly resolve: (answer: PushResponse) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** Told when a connection has nothing to do any more, and when it is no more. */
export interface ConnectionOwner {
  readonly idle: (connection: Connection) => void;
  readonly ended: (connection: Connection) => void;
}

/** One HTTP/1.1 connection to a push service (RFC 9112), which carries one push at a time. */
export class Connection {
  /** Kept for its owner: milliseconds since the epoch. */
  idleSince = 0;
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  #waiting: Waiting | undefined;
  /** What has come of the answer, as Latin-1. */
  #received = '';
  #ended = false;

  /** @param socket may still be connecting. */
  constructor(socket: Socket, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    socket.setNoDelay(true);
    // A push on its way has a timer that the process stays for; an idle connection is no reason.
    socket.unref();
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', (error) => this.#end(error));
    socket.on('close', () => this.close());
  }

  /**
   * @param request head and body. At once, so that they travel in one TLS record.
   * @param timeout ms until there must be an answer, from now and with the time to connect.
   */
  post(request: Buffer, timeout: number): Promise<PushResponse> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#end(new Error('No answer in time.')), timeout);
      this.#waiting = { resolve, reject, timer };
      this.#received = '';
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#end(new Error('The connection was closed.'));
  }

  /** A push that is on its way fails, unless its status is known already. */
  #end(error: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#socket.destroy();
    this.#owner.ended(this);
    this.#settle(error);
  }

  #read(chunk: Buffer): void {
    // Nobody asked: what follows could be taken for the answer to the next push.
    if (this.#waiting === undefined) {
      this.close();
      return;
    }
    this.#received += chunk.toString('latin1');
    try {
      const read = readResponse(this.#received);
      if (read?.reusable) this.#release(read.answer);
      else if (read?.complete || this.#received.length > answerLimit) this.close();
    } catch (error) {
      this.#received = '';
      this.#end(error as Error);
    }
  }

  #release(answer: PushResponse): void {
    const { resolve, timer } = this.#waiting!;
    clearTimeout(timer);
    this.#waiting = undefined;
    this.#owner.idle(this);
    resolve(answer);
  }

  #settle(error: Error): void {
    if (this.#waiting === undefined) return;
    const { resolve, reject, timer } = this.#waiting;
    clearTimeout(timer);
    this.#waiting = undefined;
    // A body that breaks off, or that never ends, changes nothing of the status.
    const read = this.#received === '' ? undefined : readResponse(this.#received);
    if (read === undefined) reject(error);
    else resolve(read.answer);
  }
}
