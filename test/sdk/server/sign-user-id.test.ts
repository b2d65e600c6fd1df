import { signUserId } from '../../../sdk/server/carillon-server.ts';

const identityKey = `carillon_id_${'a'.repeat(43)}`;

test.each([
  ['a missing identity key', undefined, 'ada', 'identityKey'],
  ['a secret key', `carillon_sk_${'a'.repeat(43)}`, 'ada', 'identityKey'],
  ['a key with a line break', `${identityKey}\n`, 'ada', 'identityKey'],
  ['nobody', identityKey, undefined, 'userId'],
  ['a number', identityKey, 42, 'userId'],
  ['an empty user id', identityKey, '', 'userId'],
  ['257 characters', identityKey, 'a'.repeat(257), 'userId'],
  // Its UTF-8 would be that of U+FFFD.
  ['half a surrogate pair', identityKey, '\ud800', 'userId'],
])('%s is refused, and the error repeats no value', (_, key, userId, name) => {
  const sign = () => signUserId(key as string, userId as string);
  expect(sign).toThrow(expect.objectContaining({ code: 'invalid_options' }));
  expect(sign).toThrow(`"${name}"`);
  expect(sign).not.toThrow(/a{43}/);
});

test.each([
  ['a name', 'ada'],
  ['256 characters outside the BMP', '💣'.repeat(256)],
  ['a line break', 'a\nb'],
  ['a combining character', 'e\u0301'],
])('%s is signed', (_, userId) => {
  expect(signUserId(identityKey, userId)).toMatch(/^[\w-]{43}$/);
});
