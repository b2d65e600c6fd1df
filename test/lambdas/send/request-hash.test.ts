import { requestHash } from '../../../lambdas/send/sending.ts';

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
