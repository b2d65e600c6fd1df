import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { CsvError, parse } from 'csv-parse/sync';
import { parseJson } from '../../contract/text/text.ts';
import { limits } from '../../contract/wire/limits.ts';
import { CommandError } from '../errors.ts';

type Chunks = AsyncIterable<Uint8Array>;

/** A row of a list, or why it cannot be read. */
export type ListRow = {
  /** The line on which it starts, from 1. */
  readonly line: number;
  /** Its number in an array, which may be on one line. */
  readonly row?: number;
} & ({ readonly value: unknown } | { readonly mistake: string });

export interface ListFile {
  readonly form: 'JSON lines' | 'JSON array' | 'CSV';
  /** Such as `gzip, UTF-16`; empty for plain UTF-8. */
  readonly packing: string;
  /** The names in the first line of CSV. A row is an object of texts under these names. */
  readonly columns?: readonly string[];
  /** Read no faster than they are used. Empty lines are no rows. */
  readonly rows: AsyncIterable<ListRow>;
}

/** Bytes of a row: a longer one would be refused by subscribe too. */
const maxBytes = limits.bodyBytes.subscribe;

/** A server that compresses what it sends adds one to the file's own. Each can be a thousand times its size. */
const maxLayers = 2;

const lineFeed = 0x0a;
const tooLong = { mistake: `is longer than ${maxBytes} bytes: write one subscription per line` };

/**
 * Opens a list of subscriptions: lines of JSON, JSON arrays, or CSV with a header; plain or gzip; in UTF-8, with or
 * without a byte order mark, or in UTF-16 with one. The file itself says which.
 * @throws {CommandError} here or while rows are read, if the file as a whole cannot be read.
 */
export async function openList(source: AsyncIterable<Uint8Array | string>): Promise<ListFile> {
  const packing: string[] = [];
  let file = await startOf(asBytes(source));
  for (; file.start[0] === 0x1f && file.start[1] === 0x8b; packing.push('gzip')) {
    if (packing.length === maxLayers) throw malformed('Unpack it: it is gzip within gzip.');
    file = await startOf(unzipped(file.all));
  }
  const mark = marks.find(({ bytes }) => file.start.subarray(0, bytes.length).equals(bytes));
  if (mark !== undefined) {
    const text = withoutStart(file.all, mark.bytes.length);
    if (mark.encoding !== undefined) packing.push('UTF-16');
    file = await startOf(mark.encoding === undefined ? text : asUtf8(text, mark.encoding));
  }
  refuseOthers(file.start);
  const isPlain = { packing: packing.join(', ') };
  const first = file.start.toString('latin1').trimStart()[0];
  if (first === '[') return { form: 'JSON array', ...isPlain, rows: arrayRows(file.all) };
  if (first === '{' || first === undefined) {
    return { form: 'JSON lines', ...isPlain, rows: jsonLines(file.all) };
  }
  return { form: 'CSV', ...isPlain, ...(await openCsv(file.all)) };
}

function malformed(message: string, cause?: unknown): CommandError {
  return new CommandError('malformed_list', message, { cause });
}

const codeOf = (error: unknown) => String((error as NodeJS.ErrnoException).code);

const marks: readonly { readonly bytes: Buffer; readonly encoding?: 'utf-16le' | 'utf-16be' }[] = [
  { bytes: Buffer.from([0xef, 0xbb, 0xbf]) },
  { bytes: Buffer.from([0xff, 0xfe]), encoding: 'utf-16le' },
  { bytes: Buffer.from([0xfe, 0xff]), encoding: 'utf-16be' },
];

/** Files that somebody may take for a list. */
function refuseOthers(start: Buffer): void {
  if (start.subarray(0, 4).toString('latin1') === 'PK\x03\x04') {
    throw malformed('This is a ZIP archive or a spreadsheet. Unpack it, or save it as CSV.');
  }
  if (start.includes(0)) {
    throw malformed('This is not text in UTF-8, or in UTF-16 with a byte order mark.');
  }
}

async function* asBytes(source: AsyncIterable<Uint8Array | string>): Chunks {
  for await (const chunk of source) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}

/** Bytes at the start that tell what a file is. Of JSON, white space may be before the first other character. */
const startBytes = 1024;

/** The first bytes, and all bytes. */
async function startOf(chunks: Chunks): Promise<{ readonly start: Buffer; readonly all: Chunks }> {
  const reader = chunks[Symbol.asyncIterator]();
  const read: Uint8Array[] = [];
  let size = 0;
  while (size < startBytes) {
    const { done, value } = await reader.next();
    if (done) break;
    read.push(value);
    size += value.length;
  }
  const start = Buffer.concat(read);
  async function* all() {
    yield start;
    yield* { [Symbol.asyncIterator]: () => reader };
  }
  return { start: start.subarray(0, startBytes), all: all() };
}

async function* withoutStart(chunks: Chunks, bytes: number): Chunks {
  let left = bytes;
  for await (const chunk of chunks) {
    yield chunk.subarray(left);
    left -= Math.min(left, chunk.length);
  }
}

async function* unzipped(chunks: Chunks): Chunks {
  const gunzip = createGunzip();
  // Whoever reads `gunzip` gets the error.
  const feeding = pipeline(Readable.from(chunks), gunzip).catch(() => {});
  try {
    yield* gunzip;
  } catch (error) {
    const isInvalid = codeOf(error).startsWith('Z_');
    throw isInvalid ? malformed('The gzip file is damaged, or ends too early.', error) : error;
  }
  await feeding;
}

async function* asUtf8(chunks: Chunks, encoding: string): Chunks {
  const decoder = new TextDecoder(encoding, { fatal: true });
  try {
    for await (const chunk of chunks) yield Buffer.from(decoder.decode(chunk, { stream: true }));
    decoder.decode();
  } catch (error) {
    const isInvalid = codeOf(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA';
    throw isInvalid ? malformed('The file is not valid UTF-16.', error) : error;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

type Text = { readonly text: string } | { readonly mistake: string };

function decode(bytes: Uint8Array): Text {
  try {
    return { text: utf8.decode(bytes) };
  } catch {
    return { mistake: 'is not UTF-8' };
  }
}

/** Joins the pieces of one row. Of a row that is too long, nothing is kept. */
class RowBytes {
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  keep(piece: Uint8Array): void {
    this.#bytes += piece.length;
    if (this.#bytes <= maxBytes) this.#pieces.push(piece);
    else this.#pieces = [];
  }

  take(): Text {
    const text = this.#bytes > maxBytes ? tooLong : decode(Buffer.concat(this.#pieces));
    this.#pieces = [];
    this.#bytes = 0;
    return text;
  }
}

/** The lines of a text, without their line feeds. */
async function* textLines(chunks: Chunks): AsyncGenerator<Text> {
  const row = new RowBytes();
  for await (const bytes of chunks) {
    let from = 0;
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, from)) {
      row.keep(bytes.subarray(from, end));
      yield row.take();
      from = end + 1;
    }
    row.keep(bytes.subarray(from));
  }
  if (!row.isEmpty) yield row.take();
}

function parsed(row: Text): { readonly value: unknown } | { readonly mistake: string } {
  if ('mistake' in row) return row;
  const value = parseJson(row.text);
  return value === undefined ? { mistake: 'is not JSON' } : { value };
}

async function* jsonLines(chunks: Chunks): AsyncGenerator<ListRow> {
  let line = 0;
  for await (const row of textLines(chunks)) {
    line += 1;
    if ('text' in row && row.text.trim() === '') continue;
    yield { line, ...parsed(row) };
  }
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [arrayStart, arrayEnd, objectStart, objectEnd] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * The elements of JSON arrays, of which several may follow each other, such as pages of an API. Only brackets, commas
 * and quotes are looked at: an element that is not JSON does not hide the next one.
 */
async function* arrayRows(chunks: Chunks): AsyncGenerator<ListRow> {
  /** What comes next outside of an element. */
  let expected: 'array' | 'element or end' | 'element' = 'array';
  const element = new RowBytes();
  /** Brackets that are open in the element; -1 outside of one. */
  let depth = -1;
  let [isText, isEscaped] = [false, false];
  let [line, startLine, row] = [1, 1, 0];
  for await (const bytes of chunks) {
    let from = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at]!;
      if (byte === lineFeed) line += 1;
      if (isText) {
        if (isEscaped) isEscaped = false;
        else if (byte === backslash) isEscaped = true;
        else if (byte === quote) isText = false;
        continue;
      }
      if (depth === -1 && byte > 0x20) {
        const isEnd: boolean = byte === arrayEnd && expected === 'element or end';
        if (isEnd || (byte === arrayStart && expected === 'array')) {
          expected = isEnd ? 'array' : 'element or end';
          continue;
        }
        if (byte === arrayEnd || byte === comma || expected === 'array') {
          throw malformed(`line ${line}: ${faultAt(byte, expected)}.`);
        }
        [depth, from, startLine] = [0, at, line];
      }
      if (byte === quote) isText = true;
      else if (byte === objectStart || byte === arrayStart) depth += 1;
      else if ((byte === objectEnd || byte === arrayEnd) && depth > 0) depth -= 1;
      else if (depth === 0 && (byte === comma || byte === arrayEnd)) {
        element.keep(bytes.subarray(from, at));
        [depth, row] = [-1, row + 1];
        expected = byte === comma ? 'element' : 'array';
        yield { line: startLine, row, ...parsed(element.take()) };
      }
    }
    if (depth !== -1) element.keep(bytes.subarray(from));
  }
  if (expected !== 'array') {
    throw malformed(`line ${line}: the file ends within the array. Is it complete?`);
  }
}

function faultAt(byte: number, expected: string): string {
  if (expected === 'array') return 'something follows the end of the array';
  return byte === comma
    ? 'a comma has no object before it'
    : 'a comma has no object after it. Remove it';
}

/** What may be between the cells of CSV. A file has the one that divides its header into the most columns. */
const delimiters = [',', ';', '\t'] as const;
type Delimiter = (typeof delimiters)[number];

async function openCsv(chunks: Chunks): Promise<Pick<ListFile, 'columns' | 'rows'>> {
  const lines = textLines(chunks);
  const { value: header } = await lines.next();
  if ('mistake' in header) throw malformed(`line 1 ${header.mistake}.`);
  const parts = delimiters.map((delimiter) => ({ delimiter, ...cellsOf(header.text, delimiter) }));
  const [{ cells, delimiter, mistake } = parts[0]!] = parts.sort(
    (one, other) => other.cells.length - one.cells.length,
  );
  if (mistake !== undefined) throw malformed(`line 1 ${mistake}.`);
  const columns = cells.map((name = '') => name);
  return { columns, rows: csvRows(lines, columns, delimiter) };
}

async function* csvRows(
  lines: AsyncIterable<Text>,
  columns: readonly string[],
  delimiter: Delimiter,
): AsyncGenerator<ListRow> {
  let line = 1;
  /** The lines of a row that goes on in the next one. */
  let begun: { readonly line: number; readonly text: string } | undefined;
  for await (const read of lines) {
    line += 1;
    if ('mistake' in read) {
      if (begun !== undefined) throw openQuote(begun.line);
      yield { line, ...read };
      continue;
    }
    const row = begun ? { ...begun, text: `${begun.text}\n${read.text}` } : { line, ...read };
    const isOpen = begun !== undefined && !read.text.includes('"');
    const { cells, mistake } = isOpen ? opened : cellsOf(row.text, delimiter);
    begun = mistake === opened.mistake ? row : undefined;
    if (begun !== undefined && row.text.length > maxBytes) throw openQuote(row.line);
    if (begun !== undefined) continue;
    if (mistake !== undefined) {
      yield { line: row.line, mistake };
    } else if (cells.every((cell) => cell === undefined)) {
      // An empty line is no row.
    } else if (cells.length !== columns.length) {
      const lengths = `has ${cells.length} cells, but the header has ${columns.length}`;
      yield { line: row.line, mistake: lengths };
    } else {
      const value = Object.fromEntries(columns.map((name, index) => [name, cells[index]]));
      yield { line: row.line, value };
    }
  }
  if (begun !== undefined) throw openQuote(begun.line);
}

/** From there on, nobody knows what is a row and what is the text of a cell. */
function openQuote(line: number): CommandError {
  return malformed(`line ${line} ${opened.mistake}. Lines from there on were not read.`);
}

interface Cells {
  /** A cell without a value is undefined. */
  readonly cells: readonly (string | undefined)[];
  readonly mistake?: string;
}

const opened: Cells = { cells: [], mistake: 'opens a quote and does not close it' };
const quoted: Cells = {
  cells: [],
  mistake: 'has a quote within a cell. Put the cell in quotes, and write the quote twice',
};

/** How MySQL and phpMyAdmin write that a cell has no value. In quotes, it is a text. */
const noValues = new Set(['', 'NULL', '\\N']);

/**
 * The cells of a row of CSV (RFC 4180), without white space around those that are not in quotes. Line by line, because
 * `csv-parse` reads nothing after a mistake. Between tabs, programs write cells without quotes around them.
 */
function cellsOf(row: string, delimiter: Delimiter): Cells {
  try {
    const [cells = []]: Cells['cells'][] = parse(row, {
      delimiter,
      trim: true,
      relax_quotes: delimiter === '\t',
      cast: (cell, { quoting }) =>
        (quoting ? cell === '' : noValues.has(cell)) ? undefined : cell,
    });
    return { cells };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return error.code === 'CSV_QUOTE_NOT_CLOSED' ? opened : quoted;
  }
}
