import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { rateLimitStore } from '../../../lambdas/store/rate-limits.ts';
import { useDatabase } from '../../fixtures/database.ts';

let now: Date;

const database = useDatabase();
beforeEach(() => {
  // A century ahead: DynamoDB Local deletes expired items within seconds.
  now = new Date('2126-11-20T12:00:45Z');
});

const store = (random = () => 0) =>
  rateLimitStore(database.dynamo, database.tables.RATE_LIMITS_TABLE, () => now, random);

function request(address: string, route: 'subscribe' | 'track' = 'subscribe', projectId = 'p') {
  return { projectId, route, address };
}

async function bucket(name: string) {
  const { Item } = await database.dynamo.send(
    new GetCommand({ TableName: database.tables.RATE_LIMITS_TABLE, Key: { bucket: name } }),
  );
  return Item;
}

test('200 concurrent requests are counted up to the limit of 60', async () => {
  const one = store();
  const hits = Array.from({ length: 200 }, () => one.count(request('198.51.100.2'), 60));
  const admitted = (await Promise.all(hits)).filter((retryAfterSeconds) => retryAfterSeconds === 0);
  expect(admitted).toHaveLength(60);
  const minute = Date.parse('2126-11-20T12:00:00Z') / 60_000;
  expect(await bucket(`p#subscribe#198.51.100.2#${minute}`)).toMatchObject({
    hits: 60,
    expiresAt: Date.parse('2126-11-20T12:02:00Z') / 1000,
  });
});

test('each address, project and route has its own counter', async () => {
  const one = store();
  await one.count(request('198.51.100.3'), 1);
  expect(await one.count(request('198.51.100.3'), 1)).toBe(15);
  expect(await one.count(request('198.51.100.4'), 1)).toBe(0);
  expect(await one.count(request('198.51.100.3', 'track'), 1)).toBe(0);
  expect(await one.count(request('198.51.100.3', 'subscribe', 'q'), 1)).toBe(0);
});

test('each minute starts at 0', async () => {
  const one = store();
  await one.count(request('198.51.100.5'), 1);
  now = new Date('2126-11-20T12:00:59.999Z');
  expect(await one.count(request('198.51.100.5'), 1)).toBe(1);
  now = new Date('2126-11-20T12:01:00Z');
  expect(await one.count(request('198.51.100.5'), 1)).toBe(0);
});

test('refused returns the seconds until the minute ends, without a call', async () => {
  const one = store();
  const limited = request('198.51.100.9');
  expect(one.refused(limited)).toBe(0);
  await one.count(limited, 1);
  expect(one.refused(limited)).toBe(0);
  await one.count(limited, 1);
  const before = database.calls();
  expect(one.refused(limited)).toBe(15);
  expect(one.refused(request('198.51.100.9', 'track'))).toBe(0);
  expect(database.calls()).toBe(before);
  now = new Date('2126-11-20T12:01:00Z');
  expect(one.refused(limited)).toBe(0);
});

test('a key has the limit, and an address ten times as much over all keys', async () => {
  const one = store();
  const withKey = (keyId: string) => ({ ...request('198.51.100.10'), keyId });
  expect(await one.count(withKey('a'), 1)).toBe(0);
  expect(await one.count(withKey('a'), 1)).toBe(15);
  expect(one.refused(withKey('a'))).toBe(15);
  expect(one.refused(withKey('b'))).toBe(0);
  for (const keyId of 'bcdefghij') expect(await one.count(withKey(keyId), 1)).toBe(0);
  expect(await one.count(withKey('k'), 1)).toBe(15);
  const before = database.calls();
  expect([one.refused(withKey('b')), one.refused(withKey('l'))]).toEqual([15, 15]);
  expect(database.calls()).toBe(before);
});

test('of ten requests from addresses of a network, one is counted against it', async () => {
  let drawn = 0;
  const one = store(() => (drawn++ % 10) / 10);
  const from = (number: number) => ({
    ...request(`2001:db8:1:${number}::/64`),
    network: '2001:db8:1::/48',
  });
  const before = database.calls();
  const counts: number[] = [];
  for (let number = 0; number < 30; number += 1) counts.push(await one.count(from(number), 2));
  expect(database.calls() - before).toBe(33);
  expect(counts.filter((seconds) => seconds > 0)).toHaveLength(1);
  expect(counts[20]).toBe(15);
  expect(one.refused(from(31))).toBe(15);
  expect(one.refused({ ...from(31), network: '2001:db8:2::/48' })).toBe(0);
});
