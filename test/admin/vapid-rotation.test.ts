import { randomBytes, randomUUID } from 'node:crypto';
import { DeleteCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import { type ProjectRegistry, projectRegistry } from '../../admin/project-registry.ts';
import { newVapidPair, readVapidPair } from '../../admin/vapid-pair.ts';
import type { Waiting } from '../../admin/vapid-rotation.ts';
import { projectTables } from '../../contract/infrastructure/tables.ts';
import type { ProjectRef } from '../../contract/wire/project.ts';
import { audienceStore } from '../../lambdas/store/audience.ts';
import { positionCount } from '../../lambdas/store/items.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { useDatabase } from '../fixtures/database.ts';
import { keyed } from '../fixtures/known-project.ts';
import { subscription } from '../fixtures/subscription.ts';

const database = useDatabase();
let registry: ProjectRegistry;
let projectId: string;
let ref: ProjectRef;
let now = Date.parse('2026-11-20T12:00:00Z');
const clock = () => new Date(now);

/** When all functions know the new pair. */
async function rotateLongAgo() {
  const rotated = await registry.rotateVapid(projectId);
  now += 40_000;
  return rotated;
}

beforeAll(() => {
  registry = projectRegistry(database.dynamo, projectTables(database.tables), clock);
});
beforeEach(async () => {
  projectId = `p-${randomUUID()}`;
  const { project } = await registry.create({ projectId, random: randomBytes });
  ref = project.ref;
});

const noWaiting: Waiting = { sleep: async () => {}, onWait: () => {} };
const forced = { isForced: true, waiting: noWaiting };

async function itemIn(table: 'PROJECTS_TABLE' | 'VAPID_KEYS_TABLE') {
  const TableName = database.tables[table];
  const { Item } = await database.dynamo.send(new GetCommand({ TableName, Key: { projectId } }));
  return Item;
}

/** Adds subscriptions of a pair. */
async function subscribe(count: number, vapidPairNumber: number): Promise<void> {
  const store = subscriptionStore(database.dynamo, projectTables(database.tables), clock);
  for (let made = 0; made < count; made += 1) {
    await store.save(keyed(ref), { ...subscription(), vapidPairNumber }, null);
  }
}

/** The pairs of the stored subscriptions, and their counter. */
async function stored() {
  const range = { from: 0, to: positionCount };
  const options = {
    limit: 1000,
    consistent: true,
    conditions: {},
    sentAt: Date.parse('2126-01-01'),
  };
  const audiences = audienceStore(database.dynamo, database.tables.SUBSCRIPTIONS_TABLE);
  const { recipients } = await audiences.everyone(ref, range, options);
  const { subscribers } = await registry.usage(projectId);
  return {
    pairs: recipients.map(({ vapidPairNumber = 0 }) => vapidPairNumber).sort(),
    subscribers,
  };
}

describe('rotateVapid', () => {
  test('makes a new pair current and keeps the one before it', async () => {
    const before = (await itemIn('PROJECTS_TABLE'))!;
    const keys = (await itemIn('VAPID_KEYS_TABLE'))!;
    const rotated = await registry.rotateVapid(projectId);
    expect(rotated).toMatchObject({ vapidPair: 1, previousVapidPublicKey: before.vapidPublicKey });
    expect(rotated.vapidPublicKey).not.toBe(before.vapidPublicKey);
    const after = (await itemIn('VAPID_KEYS_TABLE'))!;
    expect(after.previousPrivateKey).toBe(keys.privateKey);
    expect(() => readVapidPair(rotated.vapidPublicKey, after.privateKey)).not.toThrow();
  });

  test('refuses while there is a previous pair, and changes nothing', async () => {
    await registry.rotateVapid(projectId);
    const before = [await itemIn('PROJECTS_TABLE'), await itemIn('VAPID_KEYS_TABLE')];
    await expect(registry.rotateVapid(projectId)).rejects.toMatchObject({
      code: 'previous_vapid_pair_exists',
      message: expect.stringMatching(
        /Drop it first: rotate \S+ vapid --drop-previous\. .*--revoke/,
      ),
    });
    expect([await itemIn('PROJECTS_TABLE'), await itemIn('VAPID_KEYS_TABLE')]).toEqual(before);
  });

  test('says so if the key pair is lost, and changes nothing', async () => {
    const TableName = database.tables.VAPID_KEYS_TABLE;
    await database.dynamo.send(new DeleteCommand({ TableName, Key: { projectId } }));
    const before = await itemIn('PROJECTS_TABLE');
    const lost = { code: 'keys_missing', message: expect.stringContaining('docs/backup.md') };
    await expect(registry.rotateVapid(projectId)).rejects.toMatchObject(lost);
    await expect(registry.addPreviousVapid(projectId, newVapidPair())).rejects.toMatchObject(lost);
    expect(await itemIn('PROJECTS_TABLE')).toEqual(before);
    expect(await itemIn('VAPID_KEYS_TABLE')).toBeUndefined();
  });

  test('two calls at the same time rotate once', async () => {
    const calls = [registry.rotateVapid(projectId), registry.rotateVapid(projectId)];
    const outcomes = (await Promise.allSettled(calls)).map(({ status }) => status);
    expect(outcomes.sort()).toEqual(['fulfilled', 'rejected']);
    expect(await registry.find(projectId)).toMatchObject({ vapidPair: 1 });
  });
});

describe('addPreviousVapid', () => {
  const pair = newVapidPair();

  test.each([0, 1])('adds a pair before the current one, with the number %d', async (current) => {
    if (current === 1) {
      await rotateLongAgo();
      await registry.dropPreviousVapid(projectId, forced);
    }
    const before = (await registry.find(projectId))!;
    const added = await registry.addPreviousVapid(projectId, pair);
    expect(added).toEqual({
      ...before,
      previousVapidPublicKey: pair.publicKey,
      vapidRotatedAt: clock().toISOString(),
    });
    expect(await itemIn('VAPID_KEYS_TABLE')).toMatchObject({ previousPrivateKey: pair.privateKey });
    await subscribe(2, current);
    await subscribe(3, current - 1);
    expect(await registry.countPreviousPair(added)).toBe(3);
    now += 40_000;
    expect(await registry.dropPreviousVapid(projectId, forced)).toBe(3);
    expect(await stored()).toEqual({ pairs: [current, current], subscribers: 2 });
    expect(await registry.addPreviousVapid(projectId, pair)).toMatchObject({ vapidPair: current });
  });

  test('refuses beside another previous pair, the current one, and what is left of a dropped one', async () => {
    const { vapidPublicKey: publicKey } = (await registry.find(projectId))!;
    await expect(
      registry.addPreviousVapid(projectId, { ...pair, publicKey }),
    ).rejects.toMatchObject({ code: 'current_vapid_pair' });
    await registry.addPreviousVapid(projectId, pair);
    const before = [await itemIn('PROJECTS_TABLE'), await itemIn('VAPID_KEYS_TABLE')];
    const refused = { code: 'previous_vapid_pair_exists' };
    const other = () => registry.addPreviousVapid(projectId, newVapidPair());
    await expect(other()).rejects.toMatchObject(refused);
    expect([await itemIn('PROJECTS_TABLE'), await itemIn('VAPID_KEYS_TABLE')]).toEqual(before);
    now += 40_000;
    await subscribe(1, -1);
    const interrupted = { onWait: () => {}, sleep: () => Promise.reject(new Error('Ctrl-C')) };
    const dropping = registry.dropPreviousVapid(projectId, {
      isForced: true,
      waiting: interrupted,
    });
    await expect(dropping).rejects.toThrow('Ctrl-C');
    await expect(other()).rejects.toMatchObject(refused);
    expect(await registry.dropPreviousVapid(projectId, forced)).toBe(1);
    await other();
  });
});

describe('dropPreviousVapid', () => {
  test('refuses for a project that was never rotated', async () => {
    await expect(registry.dropPreviousVapid(projectId, forced)).rejects.toMatchObject({
      code: 'no_previous_vapid_pair',
    });
  });

  test('refuses until all functions know the rotation, also by force, and changes nothing', async () => {
    await registry.rotateVapid(projectId);
    await subscribe(1, 0);
    now += 39_999;
    await expect(registry.dropPreviousVapid(projectId, forced)).rejects.toMatchObject({
      code: 'vapid_pair_just_rotated',
    });
    expect(await stored()).toEqual({ pairs: [0], subscribers: 1 });
    now += 1;
    expect(await registry.dropPreviousVapid(projectId, forced)).toBe(1);
  });

  test('drops the keys when nobody uses them, after which a pair can be rotated again', async () => {
    const { vapidPublicKey } = await rotateLongAgo();
    await subscribe(2, 1);
    const options = { isForced: false, waiting: noWaiting };
    expect(await registry.dropPreviousVapid(projectId, options)).toBe(0);
    expect(await itemIn('PROJECTS_TABLE')).not.toHaveProperty('previousVapidPublicKey');
    expect(await itemIn('VAPID_KEYS_TABLE')).not.toHaveProperty('previousPrivateKey');
    expect(await registry.find(projectId)).toMatchObject({ vapidPublicKey, vapidPair: 1 });
    expect(await rotateLongAgo()).toMatchObject({
      vapidPair: 2,
      previousVapidPublicKey: vapidPublicKey,
    });
  });

  test('refuses while subscriptions use them, and changes nothing', async () => {
    await subscribe(3, 0);
    await rotateLongAgo();
    const before = [await itemIn('PROJECTS_TABLE'), await itemIn('VAPID_KEYS_TABLE')];
    const dropping = registry.dropPreviousVapid(projectId, { ...forced, isForced: false });
    await expect(dropping).rejects.toMatchObject({ code: 'previous_vapid_pair_in_use' });
    expect([await itemIn('PROJECTS_TABLE'), await itemIn('VAPID_KEYS_TABLE')]).toEqual(before);
    expect(await stored()).toEqual({ pairs: [0, 0, 0], subscribers: 3 });
  });

  test('by force removes these subscriptions', async () => {
    await subscribe(60, 0);
    await rotateLongAgo();
    await subscribe(4, 1);
    const progress: number[] = [];
    const onProgress = (removed: number) => progress.push(removed);
    expect(await registry.dropPreviousVapid(projectId, { ...forced, onProgress })).toBe(60);
    expect(await stored()).toEqual({ pairs: [1, 1, 1, 1], subscribers: 4 });
    expect(progress.at(-1)).toBe(60);
  });

  test('removes what was subscribed while functions still knew the keys', async () => {
    await rotateLongAgo();
    const waits: number[] = [];
    const waiting: Waiting = {
      onWait: (ms) => waits.push(ms),
      sleep: async () => {
        expect(await itemIn('VAPID_KEYS_TABLE')).not.toHaveProperty('previousPrivateKey');
        await subscribe(1, 0);
      },
    };
    expect(await registry.dropPreviousVapid(projectId, { isForced: false, waiting })).toBe(1);
    expect(await stored()).toEqual({ pairs: [], subscribers: 0 });
    expect(waits).toEqual([40_000]);
  });

  test('repeated after an interruption, waits again until all functions have forgotten them', async () => {
    await rotateLongAgo();
    const interrupted = { onWait: () => {}, sleep: () => Promise.reject(new Error('Ctrl-C')) };
    const options = { isForced: false, waiting: interrupted };
    await expect(registry.dropPreviousVapid(projectId, options)).rejects.toThrow('Ctrl-C');
    const waiting: Waiting = { onWait: () => {}, sleep: () => subscribe(1, 0) };
    expect(await registry.dropPreviousVapid(projectId, { isForced: false, waiting })).toBe(1);
    expect(await stored()).toEqual({ pairs: [], subscribers: 0 });
  });
});
