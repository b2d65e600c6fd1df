import { sendSchema } from '../../contract/schemas.ts';

function issuesOf(value: unknown): string[] {
  const { error } = sendSchema.safeParse(value);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
}

test('asks for a title alone', () => {
  expect(sendSchema.parse({ title: 'Hello' })).toEqual({ title: 'Hello' });
  expect(issuesOf({ body: 'Hello' })).toEqual(['title: is required']);
});

test.each(['userId', 'user_ids', 'other', '__proto__', 'constructor', 'toString'])(
  'refuses the unknown field %s',
  (field) => {
    const body = JSON.parse(`{"title":"a","${field}":["ada"]}`);
    expect(sendSchema.safeParse(body).error?.issues).toMatchObject([
      { code: 'unrecognized_keys', keys: [field] },
    ]);
  },
);

test('an empty list of users is refused and never a broadcast', () => {
  expect(issuesOf({ title: 'a', userIds: [] })).toEqual([
    'userIds: must name at least one user id; leave the field out to broadcast',
  ]);
  expect(issuesOf({ title: 'a', userIds: null })).toEqual([
    'userIds: must be an array of user ids',
  ]);
});

test('counts a user named twice once', () => {
  const { userIds } = sendSchema.parse({ title: 'a', userIds: ['u', 'v', 'u'] });
  expect(userIds).toEqual(['u', 'v']);
});

test('takes 1,000 users and no more', () => {
  const users = Array.from({ length: 1000 }, (_, index) => `user-${index}`);
  expect(issuesOf({ title: 'a', userIds: users })).toEqual([]);
  expect(issuesOf({ title: 'a', userIds: [...users, 'one more'] })).toEqual([
    'userIds: must name at most 1000 user ids',
  ]);
});

test('says which user id is wrong', () => {
  expect(issuesOf({ title: 'a', userIds: ['u', ''] })).toEqual([
    'userIds.1: must be text of 1 to 256 characters',
  ]);
});

test.each(['url', 'icon', 'image', 'badge'])('%s is an absolute http or https URL', (field) => {
  for (const right of ['https://example.com/a?b#c', 'http://localhost:3000/', 'HTTPS://a.b']) {
    expect(issuesOf({ title: 'a', [field]: right })).toEqual([]);
  }
  for (const wrong of [
    '/a',
    'javascript:alert(1)',
    'https://',
    'https:// a',
    'x',
    'https:/\\a',
    1,
  ]) {
    expect(issuesOf({ title: 'a', [field]: wrong })).toHaveLength(1);
  }
});

test('holds texts to their lengths', () => {
  expect(issuesOf({ title: 'a'.repeat(256), body: 'b'.repeat(2000) })).toEqual([]);
  expect(issuesOf({ title: 'a'.repeat(257), body: 'b'.repeat(2001) })).toEqual([
    'title: must be text of 1 to 256 characters',
    'body: must be text of at most 2000 characters',
  ]);
});
