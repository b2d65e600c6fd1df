/** A push service's response. */
export interface PushResponse {
  readonly status: number;
  /** By lower-case name. Of repeated headers, the first, unless they are lists. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Its first kilobytes: push services explain refusals there. */
  readonly body: string;
}

export interface ParsedResponse {
  readonly response: PushResponse;
  /** Whether all of it has been received, or as much as is read. */
  readonly complete: boolean;
  /** Whether the connection may be used for another push. */
  readonly reusable: boolean;
}

/** Bytes of a body that are read. */
export const bodyLimitBytes = 4096;

/**
 * Parses the response to a POST (RFC 9112) from what has been received of it so far.
 * @param received bytes as Latin-1.
 * @returns undefined until the headers are complete.
 * @throws {NoResponseError} if it is not an HTTP/1.1 response.
 */
export function readResponse(received: string): ParsedResponse | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;

  const [statusLine = '', ...lines] = received.slice(0, headEnd).split('\r\n');
  const [, code] = /^HTTP\/1\.1 ([1-5]\d\d)(?: |$)/.exec(statusLine) ?? [];
  if (code === undefined) throw new NoResponseError('The response is not HTTP/1.1.');
  const status = Number(code);
  const rest = received.slice(headEnd + 4);
  // Interim response (RFC 9110 §15.2). 101 is not one: no other protocol was requested.
  if (status < 200 && status !== 101) return readResponse(rest);

  const headers = readHeaders(lines);
  // Another reader may find another end of such a response (RFC 9112 §5, §11.2): it ends here, with its connection.
  const isPlain = !/[\r\n\0]/.test(statusLine) && lines.every((line) => fieldLine.test(line));
  const { text, complete, excess } = isPlain ? readBody(status, headers, rest) : cutOff(rest);
  return {
    response: { status, headers, body: text && Buffer.from(text, 'latin1').toString() },
    complete,
    reusable: complete && !excess && !/\bclose\b/i.test(headers.connection ?? ''),
  };
}

/** A field with a token as its name and no control character in its value (RFC 9110 §5.5, §5.6.2); not a folded one. */
const fieldLine = /^[!#$%&'*+.^_`|~\w-]+:[^\r\n\0]*$/;

/** Headers whose values are lists that decide how the response ends. */
const lists = ['connection', 'transfer-encoding'];

function readHeaders(lines: readonly string[]): Record<string, string | undefined> {
  const headers: Record<string, string | undefined> = Object.create(null);
  for (const line of lines) {
    if (/^[ \t]/.test(line)) continue;
    const colon = line.indexOf(':');
    if (colon < 1) throw new NoResponseError('Malformed response header.');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    // Two different lengths are a way to smuggle responses (RFC 9112 §6.3).
    if (name === 'content-length' && (headers[name] ?? value) !== value) {
      throw new NoResponseError('The response has two lengths.');
    }
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else if (lists.includes(name)) headers[name] = `${before}, ${value}`;
  }
  return headers;
}

interface Body {
  /** Latin-1. */
  readonly text: string;
  readonly complete: boolean;
  /** Whether more follows than belongs to the response, or than is read of it. */
  readonly excess: boolean;
}

/** Finds the end of the body (RFC 9112 §6.3). */
function readBody(
  status: number,
  { 'transfer-encoding': coding, 'content-length': given }: ReturnType<typeof readHeaders>,
  rest: string,
): Body {
  if (status === 204 || status === 304) return upTo(0, rest);
  if (coding !== undefined) {
    // With both headers, either may be forged: the connection is not used again.
    const body = coding.toLowerCase() === 'chunked' ? readChunks(rest) : untilClose(rest);
    return { ...body, excess: body.excess || given !== undefined };
  }
  if (given === undefined) return untilClose(rest);
  if (!/^\d{1,15}$/.test(given)) throw new NoResponseError('Malformed Content-Length.');
  return upTo(Number(given), rest);
}

function upTo(length: number, rest: string): Body {
  const wanted = Math.min(length, bodyLimitBytes);
  return {
    text: rest.slice(0, wanted),
    complete: rest.length >= wanted,
    excess: length > wanted || rest.length > length,
  };
}

/** Ends with what has been received. */
function cutOff(rest: string): Body {
  return { text: rest.slice(0, bodyLimitBytes), complete: true, excess: true };
}

function untilClose(rest: string): Body {
  return {
    text: rest.slice(0, bodyLimitBytes),
    complete: rest.length >= bodyLimitBytes,
    excess: true,
  };
}

/** RFC 9112 §7.1. */
function readChunks(rest: string): Body {
  let text = '';
  let position = 0;
  for (;;) {
    const lineEnd = rest.indexOf('\r\n', position);
    if (lineEnd === -1) return { text, complete: false, excess: false };
    const [, size, extension = ''] =
      /^([\da-f]{1,8})[ \t]*(;.*)?$/is.exec(rest.slice(position, lineEnd)) ?? [];
    if (size === undefined) throw new NoResponseError('Malformed chunk.');
    if (/[\r\n\0]/.test(extension)) return { text, complete: true, excess: true };
    const start = lineEnd + 2;
    const end = start + Number.parseInt(size, 16);
    if (end === start) {
      // No push service sends trailers: with any, the connection is not used again.
      const ended = rest.length >= end + 2;
      const plain = rest.startsWith('\r\n', end);
      return { text, complete: ended, excess: !plain || rest.length > end + 2 };
    }
    text += rest.slice(start, end);
    if (text.length >= bodyLimitBytes) {
      return { text: text.slice(0, bodyLimitBytes), complete: true, excess: true };
    }
    if (rest.length < end + 2) return { text, complete: false, excess: false };
    if (!rest.startsWith('\r\n', end)) throw new NoResponseError('Malformed chunk.');
    position = end + 2;
  }
}

/**
 * Why a push has no response. Any other error of the transport is a fault of the code, and must not
 * count as one of the network.
 */

/** The push cannot be sent as it is. A repetition would fail too. */
export class UnsendableError extends Error {
  override readonly name = 'UnsendableError';
}

/** Nothing was sent: when the connection was open, it was too late to start the push. */
export class NotStartedError extends Error {
  override readonly name = 'NotStartedError';
}

/** No connection, a broken connection, a malformed response or a time-out. */
export class NoResponseError extends Error {
  override readonly name = 'NoResponseError';
  readonly isTimeout: boolean;
  /** Whether DNS says that the host does not exist. */
  readonly isUnknownHost: boolean;
  /** Whether the push service may have accepted the push. The connection knows. */
  mayHaveArrived = false;

  constructor(message: string, options: NoResponseOptions = {}) {
    super(message, options);
    this.isTimeout = options.isTimeout ?? false;
    // NXDOMAIN. A name without an address is ENODATA.
    this.isUnknownHost = (options.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOTFOUND';
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
