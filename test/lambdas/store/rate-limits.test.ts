import { createHmac } from 'node:crypto';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import type { AddressKeyItem } from '../../../lambdas/store/items.ts';
import { rateLimitStore } from '../../../lambdas/store/rate-limits.ts';
import { useDatabase } from '../../fixtures/database.ts';

let now: Date;

const database = useDatabase();
beforeEach(() => {
  // A century ahead: DynamoDB Local deletes expired items within seconds.
  now = new Date('2126-11-20T12:00:45Z');
});

const store = (random = () => 0) =>
  rateLimitStore(database.dynamo, database.tables.RATE_LIMITS_TABLE, () => now, {
    random,
    randomBytes,
  });

/** What a store would take as the day's key if there is none. */
let drawn = 0;
function randomBytes(length: number): Uint8Array {
  drawn += 1;
  return new Uint8Array(length).fill(drawn);
}

/** The bucket of an address in the current minute. */
async function bucketOf(address: string, rest = 'p#subscribe'): Promise<string> {
  const minute = Math.floor(now.getTime() / 60_000);
  const { addressKey } = (await bucket(
    `key#${Math.floor(minute / 1440)}`,
  )) as unknown as AddressKeyItem;
  const hash = createHmac('sha256', addressKey).update(address).digest('base64url');
  return `${rest}#${hash}#${minute}`;
}

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
  expect(await bucket(await bucketOf('198.51.100.2'))).toMatchObject({
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
  expect(one.refused(limited, 1)).toBe(0);
  await one.count(limited, 1);
  expect(one.refused(limited, 1)).toBe(0);
  await one.count(limited, 1);
  const before = database.calls();
  expect(one.refused(limited, 1)).toBe(15);
  expect(one.refused(request('198.51.100.9', 'track'), 1)).toBe(0);
  expect(database.calls()).toBe(before);
  now = new Date('2126-11-20T12:01:00Z');
  expect(one.refused(limited, 1)).toBe(0);
});

test('what an earlier limit has refused is within a raised one', async () => {
  const one = store();
  for (const limited of [
    request('198.51.100.12'),
    { ...request('198.51.100.13'), keyId: 'a' },
    { ...request('2001:db8:3:1::/64'), network: '2001:db8:3::/48' },
  ]) {
    await one.count(limited, 1);
    expect(await one.count(limited, 1)).toBe(15);
    expect(one.refused(limited, 1)).toBe(15);
    expect(one.refused(limited, 2)).toBe(0);
    expect(await one.count(limited, 2)).toBe(0);
  }
});

test('a key has the limit, and an address ten times as much over all keys', async () => {
  const one = store();
  const withKey = (keyId: string) => ({ ...request('198.51.100.10'), keyId });
  expect(await one.count(withKey('a'), 1)).toBe(0);
  expect(await one.count(withKey('a'), 1)).toBe(15);
  expect(one.refused(withKey('a'), 1)).toBe(15);
  expect(one.refused(withKey('b'), 1)).toBe(0);
  for (const keyId of 'bcdefghij') expect(await one.count(withKey(keyId), 1)).toBe(0);
  expect(await one.count(withKey('k'), 1)).toBe(15);
  const before = database.calls();
  expect([one.refused(withKey('b'), 1), one.refused(withKey('l'), 1)]).toEqual([15, 15]);
  expect(database.calls()).toBe(before);
});

test('of ten requests from addresses of a network, one is counted against it', async () => {
  let draws = 0;
  const one = store(() => (draws++ % 10) / 10);
  const from = (number: number) => ({
    ...request(`2001:db8:1:${number}::/64`),
    network: '2001:db8:1::/48',
  });
  await one.count(request('198.51.100.11'), 1);
  draws = 0;
  const before = database.calls();
  const counts: number[] = [];
  for (let number = 0; number < 30; number += 1) counts.push(await one.count(from(number), 2));
  expect(database.calls() - before).toBe(33);
  expect(counts.filter((seconds) => seconds > 0)).toHaveLength(1);
  expect(counts[20]).toBe(15);
  expect(one.refused(from(31), 2)).toBe(15);
  expect(one.refused({ ...from(31), network: '2001:db8:2::/48' }, 2)).toBe(0);
});

describe('the key of a day', () => {
  const functions = () => Array.from({ length: 5 }, () => store());

  test('is the same for functions that start together, and each reads it once', async () => {
    now = new Date('2126-11-21T00:00:00Z');
    const five = functions();
    const before = database.calls();
    const from = request('198.51.100.20');
    const counts = await Promise.all(five.map((one) => one.count(from, 4)));
    expect(counts.filter((seconds) => seconds > 0)).toEqual([60]);
    expect(database.calls() - before).toBe(10);
    for (const one of five) await one.count(request('198.51.100.21'), 5);
    expect(database.calls() - before).toBe(15);
    expect(await bucket(await bucketOf('198.51.100.20'))).toMatchObject({ hits: 4 });
  });

  test('ends with the day, after its last counts', async () => {
    now = new Date('2126-11-22T23:59:59Z');
    const one = store();
    const from = request('198.51.100.22');
    await one.count(from, 1);
    const last = await bucketOf('198.51.100.22');
    expect(await one.count(from, 1)).toBe(1);
    const { expiresAt } = (await bucket(`key#${Math.floor(now.getTime() / 86_400_000)}`))!;
    expect(expiresAt).toBe(Date.parse('2126-11-23T00:02:00Z') / 1000);
    expect(expiresAt).toBeGreaterThanOrEqual((await bucket(last))!.expiresAt);

    now = new Date('2126-11-23T00:00:00Z');
    expect(one.refused(from, 1)).toBe(0);
    expect(await one.count(from, 1)).toBe(0);
    const next = await bucketOf('198.51.100.22');
    expect(next.split('#')[2]).not.toBe(last.split('#')[2]);
    expect(one.refused(from, 1)).toBe(0);
    expect(await one.count(from, 1)).toBe(60);
    expect(one.refused(from, 1)).toBe(60);
  });
});
