import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DeleteCommand, type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { projectRegistry } from '../../admin/project-registry.ts';
import { countSeconds, isCountRight, recount } from '../../admin/recount.ts';
import { sentNotifications } from '../../admin/sent-notifications.ts';
import { projectTables } from '../../contract/infrastructure/tables.ts';
import { ServiceError } from '../../contract/wire/errors.ts';
import type { Project } from '../../contract/wire/project.ts';
import { uuidV7 } from '../../lambdas/send/sending.ts';
import { endpointHash, partitionOf, projectPart } from '../../lambdas/store/items.ts';
import { sendStore } from '../../lambdas/store/sends.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { useDatabase } from '../fixtures/database.ts';
import { readTable } from '../fixtures/read-table.ts';
import { readSubscribers } from '../fixtures/stored-subscribers.ts';
import { subscription } from '../fixtures/subscription.ts';
import { newNotification } from '../lambdas/store/stored-notifications.ts';

const database = useDatabase();
const tables = () => projectTables(database.tables);
const registry = () => projectRegistry(database.dynamo, tables(), () => new Date());
const store = () => subscriptionStore(database.dynamo, tables(), () => new Date());
const month = () => new Date().toISOString().slice(0, 7);

async function counted(project: Project, options: Partial<Parameters<typeof recount>[0]> = {}) {
  return recount(
    {
      dynamo: database.dynamo,
      tables: tables(),
      clock: () => new Date(),
      sleep: (ms, signal) => sleep(ms, undefined, { signal }),
      ...options,
    },
    await registry().get(project.projectId),
  );
}

async function projectWith(subscribers: number, sends: number) {
  const project = await database.createProject();
  const stored = Array.from({ length: subscribers }, () => subscription());
  await Promise.all(stored.map((one) => store().save(project, one, null)));
  for (let send = 0; send < sends; send += 1) await begin(project);
  return { project, stored };
}

async function begin(project: Project) {
  const sentAt = new Date();
  const notification = { ...newNotification(project.ref), id: uuidV7(sentAt, randomBytes), sentAt };
  return sendStore(database.dynamo, tables()).begin(notification, 'request', 1000);
}

const itemsOf = async ({ ref }: Project) =>
  (await readTable(database.dynamo, tables().usage)).filter(({ projectRef }) => projectRef === ref);

async function setPart({ ref }: Project, period: string, used: number) {
  await database.dynamo.send(
    new UpdateCommand({
      TableName: tables().usage,
      Key: { projectRef: ref, period },
      UpdateExpression: 'SET used = :used',
      ExpressionAttributeValues: { ':used': used },
    }),
  );
}

async function openCounters(project: Project) {
  for (const { projectRef, period } of await itemsOf(project)) {
    await database.dynamo.send(
      new UpdateCommand({
        TableName: tables().usage,
        Key: { projectRef, period },
        UpdateExpression: 'REMOVE cap, closedUntil',
      }),
    );
  }
}

/** The database's client, with something before each page that is counted. */
function whenCounting(act: () => Promise<unknown>): DynamoDBDocumentClient {
  const { dynamo } = database;
  const send = async (command: { readonly input: { readonly Select?: string } }) => {
    if (command.input.Select === 'COUNT') await act();
    return dynamo.send(command as never);
  };
  return Object.create(dynamo, { send: { value: send } });
}

test('counters that are wrong, or gone with their table, are set from what is stored, and count on', async () => {
  const { project } = await projectWith(9, 3);
  await setPart(project, 'subscribers#0', 1000);
  await setPart(project, `${month()}#1`, -7);
  expect(await counted(project)).toEqual({
    subscribers: { before: expect.any(Number), after: 9 },
    month: month(),
    sends: { before: expect.any(Number), after: 3 },
  });
  expect(await registry().usage(project.projectId)).toMatchObject({ subscribers: 9, sends: 3 });

  for (const { projectRef, period } of await itemsOf(project)) {
    await database.dynamo.send(
      new DeleteCommand({ TableName: tables().usage, Key: { projectRef, period } }),
    );
  }
  expect(await counted(project)).toMatchObject({
    subscribers: { before: 0, after: 9 },
    sends: { before: 0, after: 3 },
  });
  expect(await store().save(project, subscription(), 10)).toBe('created');
  expect(await store().save(project, subscription(), 10)).toBe('cap_reached');
  expect(await begin(project)).toBe('begun');
  expect(await registry().usage(project.projectId)).toMatchObject({ subscribers: 10, sends: 4 });
});

test('what the operator has deleted was sent, and so was what has expired', async () => {
  const { project } = await projectWith(0, 3);
  const { dynamo } = database;
  const sent = sentNotifications(dynamo, tables(), project.ref, () => new Date());
  const [first, second] = await sent.latest(3);
  await sent.stop(first!.id);
  await (await sent.deletionOf(first!.id))!();
  expect(await counted(project)).toMatchObject({ sends: { before: 3, after: 3 } });

  const Key = { projectRef: project.ref, notificationId: second!.id };
  await dynamo.send(new DeleteCommand({ TableName: tables().notifications, Key }));
  const options = { mayHaveExpired: true };
  expect(await counted(project, options)).toMatchObject({ sends: { before: 3, after: 3 } });
  expect(await counted(project)).toMatchObject({ sends: { before: 3, after: 2 } });
});

test('a paused project stays paused', async () => {
  const { project } = await projectWith(1, 1);
  await registry().pause(project.projectId);
  await setPart(project, `${month()}#0`, 50);
  expect(await counted(project)).toMatchObject({ sends: { after: 1 } });
  expect(await begin(project)).toBe('closed');
  await registry().resume(project.projectId);
  expect(await begin(project)).toBe('begun');
});

test('with 50 registrations and removals a second the counter is exact', async () => {
  const { project, stored } = await projectWith(40, 0);
  await setPart(project, 'subscribers#3', 5000);
  let [isOver, busy] = [false, 0];
  const visitors = Array.from({ length: 10 }, async (_, visitor) => {
    for (let at = visitor; !isOver; at += 10) {
      const leaving = stored[at % stored.length]!;
      const change =
        at % 20 < 10
          ? store().save(project, subscription(), null)
          : store().unsubscribe(project, leaving.endpoint.href, Date.now());
      await change.catch((error: unknown) => {
        if (!(error instanceof ServiceError) || error.code !== 'unavailable') throw error;
        busy += 1;
      });
      await sleep(100);
    }
  });
  for (let times = 0; times < 2; times += 1) {
    // The partitions are read one after the other, while visitors come and go.
    let wait = Promise.resolve<unknown>(0);
    const dynamo = whenCounting(() => {
      wait = wait.then(() => sleep(30));
      return wait;
    });
    await counted(project, { dynamo });
    await sleep(200);
  }
  isOver = true;
  await Promise.all(visitors);
  const { stored: rows, counted: count } = await readSubscribers(
    database.dynamo,
    database.tables,
    project.ref,
  );
  expect(count).toBe(rows);
  expect(busy).toBeGreaterThan(0);
});

test.each([
  ['its command is interrupted', { signal: AbortSignal.abort() }],
  ['its database fails', {}],
])('if %s, no counter was changed, and visitors are accepted again', async (_, options) => {
  const { project } = await projectWith(2, 0);
  await setPart(project, 'subscribers#0', 70);
  const before = await registry().usage(project.projectId);
  const dynamo =
    'signal' in options
      ? database.dynamo
      : whenCounting(() => Promise.reject(new Error('The database fails.')));
  await expect(counted(project, { ...options, dynamo })).rejects.toThrow();
  expect(await registry().usage(project.projectId)).toEqual(before);
  expect(await store().save(project, subscription(), null)).toBe('created');
});

test('two at once are refused', async () => {
  const { project } = await projectWith(1, 0);
  let inner: Promise<unknown> | undefined;
  await counted(project, {
    onProgress: () => {
      inner ??= counted(project).catch(({ code }) => code);
    },
  });
  expect(await inner).toBe('not_counted');
});

test('one that takes longer than its counters are closed changes nothing', async () => {
  const { project } = await projectWith(1, 0);
  await setPart(project, 'subscribers#0', 70);
  let now = Date.now();
  const slow = counted(project, {
    clock: () => new Date(now),
    sleep: () => Promise.reject(new Error('It cannot be extended.')),
    onProgress: () => {
      now += 55_000;
    },
  });
  await expect(slow).rejects.toMatchObject({ code: 'not_counted' });
  expect(await registry().usage(project.projectId)).not.toMatchObject({ subscribers: 1 });
});

test('of a count that loses one of its counters, the message does not say that nothing was changed', async () => {
  const { project } = await projectWith(2, 0);
  await setPart(project, 'subscribers#0', 70);
  const dynamo = whenCounting(async () => {
    const { subscribers } = await registry().usage(project.projectId);
    // A function opens the counter of sends again, as when it was closed for too long.
    if (subscribers === 2) await openCounters(project);
  });
  const counting = counted(project, { dynamo }).catch((error) => error);
  expect(await counting).toMatchObject({ code: 'not_counted' });
  expect((await counting).message).not.toContain('No counter');
  expect(await registry().usage(project.projectId)).toMatchObject({ subscribers: 2 });
});

test('the time of a count is estimated from the number of subscribers', () => {
  expect([0, 10_000, 1_000_000, 10_000_000].map(countSeconds)).toEqual([1, 2, 8, 64]);
});

test('a counter is not called wrong because somebody leaves and somebody comes while it is compared', async () => {
  const { project, stored } = await projectWith(9, 0);
  const { dynamo } = database;
  const partOf = ({ endpoint }: { readonly endpoint: { readonly href: string } }) =>
    partitionOf(endpointHash(project, endpoint.href));
  let waiting: Promise<unknown> = Promise.resolve();
  let release = () => {};
  // Each time, one who is counted already leaves, and comes with another endpoint, which is counted later.
  const send = async (command: { readonly input: { readonly [name: string]: unknown } }) => {
    const { Select, ExpressionAttributeValues } = command.input;
    if (Select !== 'COUNT') return dynamo.send(command as never);
    const [leaving] = stored;
    const part = projectPart(project.ref, partOf(leaving!));
    if (Object(ExpressionAttributeValues)[':part'] !== part) {
      await waiting;
      return dynamo.send(command as never);
    }
    const output = await dynamo.send(command as never);
    await store().unsubscribe(project, leaving!.endpoint.href, Date.now());
    let coming = subscription();
    while (partOf(coming) === partOf(leaving!)) coming = subscription();
    await store().save(project, coming, null);
    stored[0] = coming;
    release();
    return output;
  };
  const hold = () => {
    waiting = new Promise<void>((resolve) => {
      release = resolve;
    });
  };
  const busy: DynamoDBDocumentClient = Object.create(dynamo, {
    send: {
      value: (command: { readonly input: { readonly Select?: string } }) => {
        if (command.input.Select !== 'COUNT') hold();
        return send(command as never);
      },
    },
  });
  expect(await isCountRight({ dynamo: busy, tables: tables() }, project.ref)).toBe(true);
  await setPart(project, 'subscribers#0', 100);
  expect(await isCountRight({ dynamo: busy, tables: tables() }, project.ref)).toBe(false);
});
