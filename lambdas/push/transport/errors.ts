/**
 * Why a push has no response. Any other error of the transport is a fault of the code, and must not
 * count as one of the network.
 */

/** The push cannot be sent as it is. A repetition would fail too. */
export class UnsendableError extends Error {
  override readonly name = 'UnsendableError';
}

/** No connection, a broken connection, a malformed response or a time-out. */
export class NoResponseError extends Error {
  override readonly name = 'NoResponseError';
  /** Whether the time was over. The push service may have accepted the push. */
  readonly isTimeout: boolean;

  constructor(message: string, { isTimeout = false, ...options }: NoResponseOptions = {}) {
    super(message, options);
    this.isTimeout = isTimeout;
  }
}

interface NoResponseOptions extends ErrorOptions {
  readonly isTimeout?: boolean;
}

/** Names the cause of a socket's error. Sockets, DNS and TLS give each of their errors a code. */
export function ofSocket(error: Error): Error {
  const isOfCode = error instanceof TypeError || !('code' in error);
  return isOfCode ? error : new NoResponseError(error.message, { cause: error });
}
