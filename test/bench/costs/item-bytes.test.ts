import { itemBytes } from '../../../bench/costs/item-bytes.ts';

test.each([
  ['text counts in UTF-8', { id: 'Zürich' }, 2 + 7],
  ['binary counts as it is', { hash: new Uint8Array(32) }, 4 + 32],
  ['a number takes a byte for two digits and one more', { n: 12345 }, 1 + 3 + 1],
  ['zeros at the end of a number do not count', { n: 1_000_000 }, 1 + 1 + 1],
  ['zero takes one byte', { n: 0 }, 1 + 1],
  ['a fraction counts its digits', { n: 0.25 }, 1 + 1 + 1],
  ['a negative number takes one more byte', { n: -12 }, 1 + 1 + 1 + 1],
  ['a boolean and null take one byte', { a: true, b: null }, 2 + 2],
  ['a map takes 3 bytes and 1 for each entry', { m: { a: 'x', b: 'y' } }, 1 + 3 + 2 + 4],
  ['a list takes 3 bytes and 1 for each entry', { l: ['x', 'yz'] }, 1 + 3 + 2 + 3],
])('%s', (_, item, bytes) => {
  expect(itemBytes(item)).toBe(bytes);
});

test('a value that DynamoDB cannot store is refused', () => {
  expect(() => itemBytes({ f: () => {} })).toThrow('DynamoDB cannot store function.');
});
