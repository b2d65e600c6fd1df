import { limits } from '../../contract/limits.ts';

/** A line without its line feed, or why it cannot be read. */
export type TextLine = { readonly text: string } | { readonly mistake: string };

/** Bytes of a line: a longer one would be refused by subscribe too. */
const maxBytes = limits.bodyBytes.subscribe;

/** The lines of UTF-8 text, read no faster than they are used. Of a line that is too long, nothing is kept. */
export async function* textLines(
  chunks: AsyncIterable<Uint8Array | string>,
): AsyncGenerator<TextLine> {
  /** The start of the line that the next chunk continues. */
  let start: Uint8Array[] = [];
  let startBytes = 0;
  for await (const chunk of chunks) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    let from = 0;
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, from)) {
      keep(bytes.subarray(from, end));
      yield takeLine();
      from = end + 1;
    }
    keep(bytes.subarray(from));
  }
  if (startBytes > 0) yield takeLine();

  function keep(bytes: Uint8Array): void {
    startBytes += bytes.length;
    if (startBytes <= maxBytes) start.push(bytes);
    else start = [];
  }

  function takeLine(): TextLine {
    const line = startBytes > maxBytes ? tooLong : decode(Buffer.concat(start));
    start = [];
    startBytes = 0;
    return line;
  }
}

const lineFeed = 0x0a;
const tooLong = {
  mistake: `is longer than ${maxBytes} bytes: write one subscription per line`,
};
const utf8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: Uint8Array): TextLine {
  try {
    return { text: utf8.decode(bytes) };
  } catch {
    return { mistake: 'is not UTF-8' };
  }
}
