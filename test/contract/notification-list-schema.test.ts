import { notificationListQuerySchema } from '../../contract/wire/notification-list.ts';

const parse = (query: object) => notificationListQuerySchema.safeParse(query);

test.each([
  [{}, 20],
  [{ limit: '1' }, 1],
  [{ limit: '99' }, 99],
  [{ limit: '100' }, 100],
  [{ limit: '7', other: 'x' }, 7],
])('the query %j has a limit of %i and no cursor', (query, limit) => {
  expect(parse(query).data).toEqual({ limit, cursor: undefined });
});

test.each([
  '',
  '0',
  '00',
  '01',
  '101',
  '1000',
  '-1',
  '+1',
  '1.0',
  '1e1',
  ' 1',
  '1,2',
  'x',
  null,
  5,
])('the limit %j is invalid', (limit) => {
  expect(parse({ limit }).error?.issues).toMatchObject([{ path: ['limit'] }]);
});

test('a cursor has 16 bytes', () => {
  const cursor = Buffer.alloc(16, 255).toString('base64url');
  expect(parse({ cursor }).data?.cursor).toEqual(new Uint8Array(16).fill(255));
  for (const length of [0, 15, 17]) {
    const other = Buffer.alloc(length, 255).toString('base64url');
    expect(parse({ cursor: other }).success).toBe(false);
  }
});
