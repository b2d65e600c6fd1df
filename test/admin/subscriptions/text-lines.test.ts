import { textLines } from '../../../admin/subscriptions/text-lines.ts';
import { limits } from '../../../contract/limits.ts';

const maxBytes = limits.bodyBytes.subscribe;
const tooLong = { mistake: 'is longer than 20480 bytes: write one subscription per line' };

async function linesOf(...chunks: readonly (Buffer | string)[]) {
  async function* all() {
    yield* chunks;
  }
  const lines = [];
  for await (const line of textLines(all())) lines.push(line);
  return lines;
}

test.each([
  ['no line', [], []],
  ['no line feed at the end', ['a\nb'], ['a', 'b']],
  ['a line feed at the end', ['a\nb\n'], ['a', 'b']],
  ['empty lines', ['\n\na\n'], ['', '', 'a']],
  ['a line in several chunks', ['a', 'b', 'c\nd', 'e'], ['abc', 'de']],
  ['a line feed between two chunks', ['a', '\nb'], ['a', 'b']],
])('%s', async (_, chunks, texts) => {
  expect(await linesOf(...chunks)).toEqual(texts.map((text) => ({ text })));
});

test('a character that two chunks share is read', async () => {
  const bytes = Buffer.from('é');
  expect(await linesOf(bytes.subarray(0, 1), bytes.subarray(1))).toEqual([{ text: 'é' }]);
});

test('a line of invalid UTF-8 is refused, and the next one is read', async () => {
  const lines = await linesOf(Buffer.from('a\nb\xff\nc\nd\xc3', 'latin1'));
  const invalid = { mistake: 'is not UTF-8' };
  expect(lines).toEqual([{ text: 'a' }, invalid, { text: 'c' }, invalid]);
});

test('a line may have the limit, and not one byte more', async () => {
  const longest = 'é'.repeat(maxBytes / 2);
  expect(await linesOf(`${longest}\nx${longest}\n`, longest, '\nx', longest)).toEqual([
    { text: longest },
    tooLong,
    { text: longest },
    tooLong,
  ]);
});

test('a line of 80 MB is refused in a time that is proportional to its length', async () => {
  const chunk = Buffer.alloc(65_536, 'x');
  const chunks = Array.from({ length: 1220 }, () => chunk);
  expect(await linesOf('a\n', ...chunks, '\nb')).toEqual([{ text: 'a' }, tooLong, { text: 'b' }]);
});
