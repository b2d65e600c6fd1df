/**
 * Why a push has no response. Any other error of the transport is a fault of the code, and must not
 * count as one of the network.
 */

/** The push cannot be sent as it is. A repetition would fail too. */
export class UnsendableError extends Error {
  override readonly name = 'UnsendableError';
}

/** Nothing was sent: when the connection was open, the push might not start any more. */
export class NotStartedError extends Error {
  override readonly name = 'NotStartedError';
}

/** No connection, a broken connection, a malformed response or a time-out. */
export class NoResponseError extends Error {
  override readonly name = 'NoResponseError';
  /** Whether the time was over. */
  readonly isTimeout: boolean;
  /** Whether the whole request was written: the push service may have accepted the push. */
  readonly isSent: boolean;

  constructor(message: string, options: NoResponseOptions = {}) {
    super(message, options);
    this.isTimeout = options.isTimeout ?? false;
    this.isSent = options.isSent ?? false;
  }
}

interface NoResponseOptions extends ErrorOptions {
  readonly isTimeout?: boolean;
  readonly isSent?: boolean;
}

/** Names the cause of a socket's error. Sockets, DNS and TLS give each of their errors a code. */
export function ofSocket(error: Error): Error {
  const isOfCode = error instanceof TypeError || !('code' in error);
  return isOfCode ? error : new NoResponseError(error.message, { cause: error });
}
