/** A push service's answer. */
export interface PushResponse {
  readonly status: number;
  /** Names in lower case. Of a name that comes twice, the first counts. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The first kilobytes: push services explain a refusal in it. */
  readonly body: string;
}

export interface ParsedResponse {
  readonly answer: PushResponse;
  /** Whether it is there to its end, or as much of it as is wanted. */
  readonly complete: boolean;
  /** Whether the connection may carry another push after it. */
  readonly reusable: boolean;
}

/** Bytes of a body that are read. */
export const bodyLimit = 4096;

/**
 * Reads an answer to a POST (RFC 9112) from all that has come of it so far.
 * @param received bytes as Latin-1.
 * @returns undefined until its headers are there.
 * @throws {Error} where it is no answer of HTTP/1.1.
 */
export function readResponse(received: string): ParsedResponse | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;

  const [statusLine = '', ...lines] = received.slice(0, headEnd).split('\r\n');
  const [, code] = /^HTTP\/1\.1 ([1-5]\d\d)(?: |$)/.exec(statusLine) ?? [];
  if (code === undefined) throw new Error('The answer is not HTTP/1.1.');
  const status = Number(code);
  const rest = received.slice(headEnd + 4);
  // What comes ahead of the answer (RFC 9110 §15.2). No other protocol was asked for.
  if (status < 200 && status !== 101) return readResponse(rest);

  const headers = readHeaders(lines);
  const { text, complete, excess } = readBody(status, headers, rest);
  return {
    answer: { status, headers, body: text && Buffer.from(text, 'latin1').toString() },
    complete,
    reusable: complete && !excess && !/\bclose\b/i.test(headers.connection ?? ''),
  };
}

function readHeaders(lines: readonly string[]): Record<string, string | undefined> {
  const headers: Record<string, string | undefined> = Object.create(null);
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 1) throw new Error('A header of the answer is none.');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    // Which of two lengths holds is a matter that requests have been smuggled by.
    if (name === 'content-length' && (headers[name] ?? value) !== value) {
      throw new Error('The answer has two lengths.');
    }
    headers[name] ??= value;
  }
  return headers;
}

interface Body {
  /** Latin-1. */
  readonly text: string;
  readonly complete: boolean;
  /** Whether there is more than belongs to the answer, or than is wanted of it. */
  readonly excess: boolean;
}

/** Finds the body's end (RFC 9112 §6.3). */
function readBody(
  status: number,
  { 'transfer-encoding': coding, 'content-length': given }: ReturnType<typeof readHeaders>,
  rest: string,
): Body {
  if (status === 204 || status === 304) return upTo(0, rest);
  if (coding !== undefined) {
    // With both, either may be forged: the connection is not used again.
    const body = coding.toLowerCase() === 'chunked' ? readChunks(rest) : untilClose(rest);
    return { ...body, excess: body.excess || given !== undefined };
  }
  if (given === undefined) return untilClose(rest);
  if (!/^\d{1,15}$/.test(given)) throw new Error('The length of the answer is none.');
  return upTo(Number(given), rest);
}

function upTo(length: number, rest: string): Body {
  const wanted = Math.min(length, bodyLimit);
  return {
    text: rest.slice(0, wanted),
    complete: rest.length >= wanted,
    excess: length > wanted || rest.length > length,
  };
}

function untilClose(rest: string): Body {
  return { text: rest.slice(0, bodyLimit), complete: rest.length >= bodyLimit, excess: true };
}

/** RFC 9112 §7.1. */
function readChunks(rest: string): Body {
  let text = '';
  let position = 0;
  for (;;) {
    const lineEnd = rest.indexOf('\r\n', position);
    if (lineEnd === -1) return { text, complete: false, excess: false };
    const [, size] = /^([\da-f]{1,8})[ \t]*(?:;|$)/i.exec(rest.slice(position, lineEnd)) ?? [];
    if (size === undefined) throw new Error('A chunk of the answer is none.');
    const start = lineEnd + 2;
    const end = start + Number.parseInt(size, 16);
    if (end === start) {
      // Trailers, which nobody here sends, would need another look: without them it ends here.
      const ended = rest.length >= end + 2;
      const plain = rest.startsWith('\r\n', end);
      return { text, complete: ended, excess: !plain || rest.length > end + 2 };
    }
    text += rest.slice(start, end);
    if (text.length >= bodyLimit) {
      return { text: text.slice(0, bodyLimit), complete: true, excess: true };
    }
    if (rest.length < end + 2) return { text, complete: false, excess: false };
    if (!rest.startsWith('\r\n', end)) throw new Error('A chunk of the answer is none.');
    position = end + 2;
  }
}
