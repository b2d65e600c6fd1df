import { randomBytes } from 'node:crypto';
import { notificationIdSchema } from '../../../contract/wire/fields.ts';
import { limits } from '../../../contract/wire/limits.ts';
import { largestMessage, requestHash, usersOf, uuidV7 } from '../../../lambdas/send/sending.ts';

test('the example of RFC 9562, appendix A.6, is reproduced', () => {
  // rand_a is 0xCC3 and rand_b 0x18C4DC0C0C07398F; the version and the variant overwrite the other bits.
  const random = Buffer.from('0cc318c4dc0c0c07398f', 'hex');
  const id = uuidV7(new Date(0x017f22e279b0), () => random);
  expect(id).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f');
});

test('ids are valid, and in the order of their time', () => {
  const ids = [1, 2, 3].map((second) => uuidV7(new Date(1_800_000_000_000 + second), randomBytes));
  for (const id of ids) expect(notificationIdSchema.safeParse(id).success).toBe(true);
  expect(ids).toEqual([...ids].sort());
});

test('74 bits are random', () => {
  const time = new Date(1_800_000_000_000);
  const bits = (fill: number) =>
    BigInt(`0x${uuidV7(time, (length) => Buffer.alloc(length, fill)).replaceAll('-', '')}`);
  const different = (bits(0) ^ bits(0xff)).toString(2).replaceAll('0', '');
  expect(different).toHaveLength(74);
});

const request = {
  title: 'T',
  ttl: 60,
  data: { order: { id: 7, items: ['a', 'b'] }, 10: true, 9: null },
  userIds: ['ada', 'bob'],
};

test('the order of members does not change the hash, at any depth', () => {
  const reordered = {
    userIds: ['ada', 'bob'],
    data: { 9: null, 10: true, order: { items: ['a', 'b'], id: 7 } },
    ttl: 60,
    title: 'T',
  };
  expect(requestHash('key', reordered)).toBe(requestHash('key', request));
});

test('the order of members in an array does not change the hash, that of its elements does', () => {
  const hash = (list: readonly object[]) => requestHash('key', { title: 'T', data: { list } });
  expect(hash([{ a: 1, b: 2 }, {}])).toBe(hash([{ b: 2, a: 1 }, {}]));
  expect(hash([{ a: 1, b: 2 }, {}])).not.toBe(hash([{}, { a: 1, b: 2 }]));
});

test.each([
  ['a changed value', { ...request, ttl: 61 }],
  ['another user id', { ...request, userIds: ['ada'] }],
  ['user ids in another order', { ...request, userIds: ['bob', 'ada'] }],
  ['a value moved to another member', { ...request, title: 'U', body: 'T' }],
  ['a changed nested value', { ...request, data: { order: { id: 8, items: ['a', 'b'] } } }],
  ['text instead of a number', { ...request, data: { ...request.data, 10: 'true' } }],
])('%s changes the hash', (_, changed) => {
  expect(requestHash('key', changed)).not.toBe(requestHash('key', request));
});

test('an undefined member is as if it was absent', () => {
  expect(requestHash('key', { ...request, body: undefined })).toBe(requestHash('key', request));
});

test('a member named __proto__ counts', () => {
  const hash = (data: string) => requestHash('key', { title: 'T', data: JSON.parse(data) });
  expect(hash('{"__proto__":{"a":1}}')).not.toBe(hash('{}'));
});

test('nobody can try requests without the Idempotency-Key', () => {
  expect(requestHash('another key', request)).not.toBe(requestHash('key', request));
});

// Another value would refuse the repetitions of requests that came before a deployment.
test('the hash of a request never changes', () => {
  expect(requestHash('key', request)).toBe(
    '57be67bde18e98304dd8117561526703b51aa8fcb40e8e6d04eead4ed674a223',
  );
});

test('the values of recipients are part of the hash', () => {
  const hash = (...values: Record<string, string>[]) =>
    requestHash('key', { title: '{{a}}{{b}}', userIds: ['ada'], values });
  expect(hash({ a: '1', b: '2' })).toBe(hash({ b: '2', a: '1' }));
  expect(hash({ a: '1', b: '2' })).not.toBe(hash({ a: '2', b: '1' }));
});

const content = { title: 'T', body: '{{v}}' };

/** Checks a send to recipients with bodies of these lengths, in bytes. */
function check(...lengths: readonly number[]) {
  const recipients = lengths.map((length, index) => ({
    userId: `u${index}`,
    values: { v: 'x'.repeat(length) },
  }));
  const notification = {
    ...{ id: 'id', sentAt: new Date(0), expiresAt: 0, content },
    division: {
      ...{ users: lengths.length, conditions: {}, slices: 1, countersPerSlice: 1 },
      respondedAsync: false,
    },
  };
  const audience = usersOf({ ...content, recipients })!;
  return () => largestMessage(notification, audience, 'https://push.example.com/events');
}

test('each message of a send with values must fit, and the error names the first that does not', () => {
  const envelope = 300;
  const length = limits.messageBytes - envelope;
  expect(check(1, length, 1)).not.toThrow();
  expect(check(1, length, 1)()).toBe(check(length)());
  expect(check(1, 1, limits.messageBytes, limits.messageBytes)).toThrow(
    /^The notification for recipients\[2\] is \d+ bytes too large/,
  );
});
