import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { hmacDataLimit, hmacSha256 } from '../../../../lambdas/push/crypto/hmac-sha256.ts';

const bytes = (maxLength: number) =>
  fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));

test('hmacSha256 equals Node’s HMAC for keys of at most one block and data within the limit', () => {
  fc.assert(
    fc.property(bytes(64), bytes(hmacDataLimit), (key, data) => {
      expect(hmacSha256(key, data)).toEqual(createHmac('sha256', key).update(data).digest());
    }),
  );
});

test.each([
  [65, 0],
  [0, hmacDataLimit + 1],
])('a key of %i bytes with %i bytes of data is refused', (key, data) => {
  expect(() => hmacSha256(Buffer.alloc(key), Buffer.alloc(data))).toThrow(RangeError);
});
