import { gzipSync } from 'node:zlib';
import { type ListRow, openList } from '../../../admin/subscriptions/list-file.ts';
import { limits } from '../../../contract/wire/limits.ts';

const maxBytes = limits.bodyBytes.subscribe;
const tooLong = { mistake: 'is longer than 20480 bytes: write one subscription per line' };

/** The rows of a file, whose bytes come in pieces of this size. */
async function read(file: Buffer | string, pieceBytes = 64_000) {
  const bytes = Buffer.from(file);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      yield bytes.subarray(at, at + pieceBytes);
    }
  }
  const { rows, ...list } = await openList(pieces());
  const found: ListRow[] = [];
  for await (const row of rows) found.push(row);
  return { ...list, rows: found };
}

const values = async (file: Buffer | string, pieceBytes?: number) =>
  (await read(file, pieceBytes)).rows.map((row) => ('value' in row ? row.value : row.mistake));

const utf16be = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16();

describe('the form of a list', () => {
  const row = { endpoint: 'https://e/é', userId: 'Zoë, "the 𝟚nd"' };
  const lines = `${JSON.stringify(row)}\r\n\n${JSON.stringify(row)}`;
  const forms = [
    ['lines of JSON', 'JSON lines', lines],
    ['a JSON array', 'JSON array', JSON.stringify([row, row])],
    ['a JSON array over many lines', 'JSON array', `\n ${JSON.stringify([row, row], null, 2)}\n`],
    [
      'JSON arrays after each other',
      'JSON array',
      `[${JSON.stringify(row)}]\n[]${JSON.stringify([row])}`,
    ],
    ...[',', ';', '\t'].map((delimiter) => {
      const cells = ['https://e/é', '"Zoë, ""the 𝟚nd"""'].join(delimiter);
      const header = ['endpoint', '"userId"'].join(delimiter);
      return [
        `CSV with ${JSON.stringify(delimiter)}`,
        'CSV',
        `${header}\r\n${cells}\r\n${cells}\n\r\n`,
      ];
    }),
  ] as const;
  const packings: readonly (readonly [string, string, (text: string) => Buffer])[] = [
    ['UTF-8', '', (text) => Buffer.from(text)],
    ['UTF-8 with a mark', '', (text) => Buffer.from(`\ufeff${text}`)],
    ['UTF-16', 'UTF-16', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['big-endian UTF-16', 'UTF-16', utf16be],
    ['gzip', 'gzip', (text) => gzipSync(text)],
    ['gzip of UTF-8 with a mark', 'gzip', (text) => gzipSync(`\ufeff${text}`)],
    ['gzip in two layers', 'gzip, gzip', (text) => gzipSync(gzipSync(text))],
    ['gzip of UTF-16', 'gzip, UTF-16', (text) => gzipSync(utf16be(text))],
    [
      'gzip files after each other',
      'gzip',
      (text) => Buffer.concat([gzipSync(text.slice(0, 40)), gzipSync(text.slice(40))]),
    ],
  ];
  const cases = forms.flatMap(([name, form, text]) =>
    packings.map(([packing, named, pack]) => [name, packing, form, named, pack(text)] as const),
  );

  it.each(cases)('is found: %s in %s', async (_, __, form, packing, file) => {
    for (const pieceBytes of [1, 7, 64_000]) {
      const list = await read(file, pieceBytes);
      expect(list).toMatchObject({ form, packing });
      expect(list.rows).toMatchObject([{ value: row }, { value: row }]);
    }
  });

  it.each([
    ['is empty', ''],
    ['has white space only', ' \n\n'],
    ['has an empty array', '[ ]'],
    ['has a header only', 'endpoint;auth\n'],
  ])('has no row if the file %s', async (_, text) => expect((await read(text)).rows).toEqual([]));

  it.each([
    ['a ZIP archive', 'PK\x03\x04…', 'This is a ZIP archive or a spreadsheet.'],
    ['UTF-16 without a mark', Buffer.from('{"a":1}', 'utf16le'), 'UTF-16 with a byte order mark'],
    ['gzip that ends too early', gzipSync(lines).subarray(0, 60), 'damaged, or ends too early'],
    [
      'gzip that is damaged',
      Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3]),
      'damaged, or ends too early',
    ],
    ['gzip in three layers', gzipSync(gzipSync(gzipSync(lines))), 'it is gzip within gzip'],
    ['UTF-16 with half a character', utf16be('{"a":1}\n').subarray(0, -1), 'not valid UTF-16'],
  ])('is refused: %s', async (_, file, message) => {
    await expect(read(file)).rejects.toThrow(message);
    await expect(read(file)).rejects.toMatchObject({ code: 'malformed_list' });
  });
});

describe('lines of JSON', () => {
  it('are read after one that is invalid', async () => {
    const bytes = Buffer.from('{"a":1}\n{"a":\n"\xff"\n7\n', 'latin1');
    expect((await read(bytes)).rows).toEqual([
      { line: 1, value: { a: 1 } },
      { line: 2, mistake: 'is not JSON' },
      { line: 3, mistake: 'is not UTF-8' },
      { line: 4, value: 7 },
    ]);
  });

  it('may have the limit, and not one byte more', async () => {
    const longest = `{"a":"${'é'.repeat((maxBytes - 8) / 2)}"}`;
    const [first, second, third] = await values(`${longest}\n ${longest}\n${longest}`);
    expect([first, second, third]).toEqual([JSON.parse(longest), tooLong.mistake, first]);
  });

  it('are refused in a time that is proportional to their length', async () => {
    const line = 'x'.repeat(80_000_000);
    expect(await values(`{}\n${line}\n{}`)).toEqual([{}, tooLong.mistake, {}]);
  });
});

describe('a JSON array', () => {
  it('has elements that are no objects, or no JSON, between others', async () => {
    const text = '[{"a":"}]\\","},\n{"a":1,},\n"b, ]",[1,{}], 7 ,nope,\n{"a":{"b":[]}}\n]';
    expect((await read(text)).rows).toEqual([
      { line: 1, row: 1, value: { a: '}]",' } },
      { line: 2, row: 2, mistake: 'is not JSON' },
      { line: 3, row: 3, value: 'b, ]' },
      { line: 3, row: 4, value: [1, {}] },
      { line: 3, row: 5, value: 7 },
      { line: 3, row: 6, mistake: 'is not JSON' },
      { line: 4, row: 7, value: { a: { b: [] } } },
    ]);
  });

  it('has elements that are too long between others', async () => {
    const long = `{"a":"${'x'.repeat(maxBytes)}"}`;
    expect(await values(`[{},${long},{}]`)).toEqual([{}, tooLong.mistake, {}]);
  });

  it.each([
    [
      'a comma before its end',
      '[\n{},\n{},\n]',
      'line 4: a comma has no object after it. Remove it.',
    ],
    ['two commas', '[{}\n,\n,{}]', 'line 3: a comma has no object before it.'],
    ['no end', '[{},\n{}', 'line 2: the file ends within the array. Is it complete?'],
    ['an end within an object', '[{},\n{"a', 'line 2: the file ends within the array.'],
    ['no element after its start', '[\n', 'line 2: the file ends within the array.'],
    ['something after its end', '[{}]\n{}', 'line 2: something follows the end of the array.'],
  ])('is refused with %s', async (_, text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });
});

describe('CSV', () => {
  it('has cells without a value, with white space, quotes and line feeds', async () => {
    const text = 'a,b,c\n1,,"3"\n NULL , \\N ,"NULL"\n"x\ny","""",  z w  \n" v ",\'q\',""\n';
    expect((await read(text)).rows).toEqual([
      { line: 2, value: { a: '1', c: '3' } },
      { line: 3, value: { c: 'NULL' } },
      { line: 4, value: { a: 'x\ny', b: '"', c: 'z w' } },
      { line: 6, value: { a: ' v ', b: "'q'" } },
    ]);
  });

  it('has quotes in cells without quotes around them only between tabs', async () => {
    expect(await values('a\tb\n{"x":1}\t2"\n')).toEqual([{ a: '{"x":1}', b: '2"' }]);
    expect(await values('a;b\n{"x":1};2\n3;4\n')).toEqual([within, { a: '3', b: '4' }]);
  });

  it('has no rows without a value', async () => {
    expect(await values('a,b\n,\n"",\n1,2\n,,,\n')).toEqual([{ a: '1', b: '2' }]);
  });

  const within = 'has a quote within a cell. Put the cell in quotes, and write the quote twice';

  it('is read after a row that is invalid', async () => {
    const text = Buffer.from(
      `a,b\n1\n1,2,3\n"1"2,3\n\xff,1\n${'x'.repeat(maxBytes)},1\n1,2`,
      'latin1',
    );
    expect((await read(text)).rows).toEqual([
      { line: 2, mistake: 'has 1 cells, but the header has 2' },
      { line: 3, mistake: 'has 3 cells, but the header has 2' },
      { line: 4, mistake: within },
      { line: 5, mistake: 'is not UTF-8' },
      { line: 6, ...tooLong },
      { line: 7, value: { a: '1', b: '2' } },
    ]);
  });

  it.each([
    ['at the end', 'a,b\n1,2\n"3,4\n5,6\n'],
    ['in many lines', `a,b\n1,2\n"3,4\n${'5,6\n'.repeat(10_000)}`],
    ['before a line that cannot be read', `a,b\n1,2\n"3,4\n${'x'.repeat(maxBytes + 1)}\n"`],
  ])('is refused with a quote that is not closed %s', async (_, text) => {
    const message =
      'line 3 opens a quote and does not close it. Lines from there on were not read.';
    await expect(read(text)).rejects.toThrow(message);
  });

  it('is refused if its first line cannot be read', async () => {
    await expect(read(`"a,b\n1,2`)).rejects.toThrow('line 1 opens a quote and does not close it.');
    await expect(read('a'.repeat(maxBytes + 1))).rejects.toThrow('line 1 is longer than');
  });
});
