import { pathText } from '../../contract/issues.ts';
import { sendSchema } from '../../contract/schemas/notification.ts';

function issuesOf(value: unknown): string[] {
  const { error } = sendSchema.safeParse(value);
  return (error?.issues ?? []).map(({ path, message }) => `${pathText(path)}: ${message}`);
}

test('only the title is required', () => {
  expect(sendSchema.parse({ title: 'Hello' })).toEqual({ title: 'Hello' });
  expect(issuesOf({ body: 'Hello' })).toEqual(['title: is required']);
});

test.each([null, [], 'text', 7])('the body %j is refused', (body) => {
  expect(issuesOf(body)).toEqual([': must be an object']);
});

// Names of built-in properties, such as __proto__: test/reliability.
test.each(['userId', 'user_ids', 'users', 'vibrate'])(
  'the unknown field %s is refused',
  (field) => {
    const body = JSON.parse(`{"title":"a","${field}":["ada"]}`);
    expect(sendSchema.safeParse(body).error?.issues).toMatchObject([
      { code: 'unrecognized_keys', keys: [field] },
    ]);
  },
);

test('an empty or null userIds is refused instead of becoming a broadcast', () => {
  expect(issuesOf({ title: 'a', userIds: [] })).toEqual([
    'userIds: must name at least one user id; leave the field out to broadcast',
  ]);
  expect(issuesOf({ title: 'a', userIds: null })).toEqual([
    'userIds: must be an array of user ids',
  ]);
});

test('a repeated user id is removed', () => {
  const { userIds } = sendSchema.parse({ title: 'a', userIds: ['u', 'v', 'u'] });
  expect(userIds).toEqual(['u', 'v']);
});

test('userIds has at most 1,000 entries', () => {
  const userIds = Array.from({ length: 1000 }, (_, index) => `user-${index}`);
  expect(issuesOf({ title: 'a', userIds })).toEqual([]);
  expect(issuesOf({ title: 'a', userIds: [...userIds, 'one more'] })).toEqual([
    'userIds: must name at most 1000 user ids',
  ]);
});

test('an empty or null list of channels is refused instead of becoming a broadcast', () => {
  expect(issuesOf({ title: 'a', channels: [] })).toEqual([
    'channels: must name at least one channel; leave the field out for all subscriptions',
  ]);
  expect(issuesOf({ title: 'a', channels: null })).toEqual([
    'channels: must be an array of channels',
  ]);
});

test('channels has at most 20 distinct names, which are checked as in subscribe', () => {
  const channels = Array.from({ length: 20 }, (_, index) => `c-${index}`);
  expect(sendSchema.parse({ title: 'a', channels: [...channels, 'c-0'] })).toEqual({
    title: 'a',
    channels,
  });
  expect(issuesOf({ title: 'a', channels: [...channels, 'one-more'] })).toEqual([
    'channels: must name at most 20 channels',
  ]);
  expect(issuesOf({ title: 'a', channels: ['a', 'B'] })).toEqual([
    'channels[1]: must be 1 to 32 lowercase letters, digits or hyphens',
  ]);
});

test('an issue names the index of an invalid user id', () => {
  expect(issuesOf({ title: 'a', userIds: ['u', ''] })).toEqual([
    'userIds[1]: must be text of 1 to 256 characters',
  ]);
});

test.each(['url', 'icon', 'image', 'badge'])(
  '%s must be an absolute http or https URL',
  (field) => {
    for (const valid of ['https://example.com/a?b#c', 'http://localhost:3000/', 'HTTPS://a.b']) {
      expect(issuesOf({ title: 'a', [field]: valid })).toEqual([]);
    }
    for (const invalid of [
      '/a',
      'javascript:alert(1)',
      'https://',
      'https:// a',
      'x',
      'https:/\\a',
      1,
    ]) {
      expect(issuesOf({ title: 'a', [field]: invalid })).toHaveLength(1);
    }
  },
);

test('title has at most 256 characters, body at most 2,000', () => {
  expect(issuesOf({ title: 'a'.repeat(256), body: 'b'.repeat(2000) })).toEqual([]);
  expect(issuesOf({ title: 'a'.repeat(257), body: 'b'.repeat(2001) })).toEqual([
    'title: must be text of 1 to 256 characters',
    'body: must be text of at most 2000 characters',
  ]);
});

test('lengths count Unicode code points', () => {
  expect(issuesOf({ title: '💣'.repeat(256) })).toEqual([]);
  expect(issuesOf({ title: '💣'.repeat(257) })).toHaveLength(1);
});
