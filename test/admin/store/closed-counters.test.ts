import { randomBytes } from 'node:crypto';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { projectRegistry } from '../../../admin/project-registry.ts';
import { closeCounter, openCounter } from '../../../admin/store/closed-counters.ts';
import { batchImport } from '../../../admin/store/subscription-import.ts';
import { projectTables } from '../../../contract/infrastructure/tables.ts';
import type { Project } from '../../../contract/wire/project.ts';
import { monthCounter, subscriberCounter } from '../../../lambdas/store/counters.ts';
import { partitionCount } from '../../../lambdas/store/items.ts';
import { projectStore } from '../../../lambdas/store/projects.ts';
import { sendStore } from '../../../lambdas/store/sends.ts';
import { subscriptionStore } from '../../../lambdas/store/subscriptions.ts';
import { clientWith } from '../../fixtures/client-with.ts';
import { useDatabase } from '../../fixtures/database.ts';
import { readTable } from '../../fixtures/read-table.ts';
import { subscription } from '../../fixtures/subscription.ts';
import { newNotification } from '../../lambdas/store/stored-notifications.ts';

const database = useDatabase();
const tables = () => projectTables(database.tables);

/** The stores of a function of its own. */
function newFunction(clock = () => new Date()) {
  const { dynamo } = database;
  return {
    sends: sendStore(dynamo, tables()),
    subscriptions: subscriptionStore(dynamo, tables(), clock),
  };
}

const registryAt = (time: string) =>
  projectRegistry(database.dynamo, tables(), () => new Date(time));

async function notificationsOf({ ref }: Project): Promise<number> {
  const items = await readTable(database.dynamo, database.tables.NOTIFICATIONS_TABLE);
  return items.filter(({ projectRef, content }) => projectRef === ref && content).length;
}

test('parts that somebody creates meanwhile are closed too', async () => {
  const project = await database.createProject();
  const counter = monthCounter(tables().usage, project.ref, new Date(november));
  const { sends } = newFunction();
  const sentAt = new Date(november);
  const begin = () => sends.begin({ ...newNotification(project.ref), sentAt }, 'request', 1000);
  const closed: Promise<object>[] = [];
  // A send creates the month after all but one of its parts were not there to be closed.
  const dynamo = clientWith((command: object) => {
    const call = async () => {
      if (closed.length === partitionCount - 1 && command instanceof UpdateCommand) {
        await Promise.allSettled(closed);
        expect(await begin()).toBe('begun');
      }
      return database.dynamo.send(command as never);
    };
    const called = call();
    if (command instanceof UpdateCommand) closed.push(called);
    return called;
  });
  await closeCounter(dynamo, tables(), project, counter);
  expect(await begin()).toBe('closed');
});

const november = '2126-11-30T23:59:59.990Z';
const december = '2126-12-01T00:00:00.010Z';

test.each([
  ['the counter of the month exists', [november, december]],
  ['it is the first of a month', []],
])(
  'when a pause returns, no send of any function begins, also at the change of a month: %s',
  async (_, before) => {
    const project = await database.createProject({ monthlySendCap: 5000 });
    const functions = Array.from({ length: 4 }, () => newFunction());
    const begin = (one: (typeof functions)[number], sentAt: string) =>
      one.sends.begin(
        { ...newNotification(project.ref), sentAt: new Date(sentAt) },
        'request',
        5000,
      );
    for (const sentAt of before) expect(await begin(functions[0]!, sentAt)).toBe('begun');

    let isPaused = false;
    const outcomes: [afterPause: boolean, outcome: string][] = [];
    const sending = functions.map(async (one, index) => {
      for (let after = 0; after < 5; ) {
        const startedAfter = isPaused;
        const outcome = await begin(one, (index + outcomes.length) % 2 === 0 ? november : december);
        outcomes.push([startedAfter, outcome]);
        if (startedAfter) after += 1;
      }
    });
    const registry = registryAt(november);
    await registry.pause(project.projectId);
    isPaused = true;
    const begun = await notificationsOf(project);
    await Promise.all(sending);

    expect(new Set(outcomes.filter(([after]) => after).map(([, outcome]) => outcome))).toEqual(
      new Set(['closed']),
    );
    expect(await notificationsOf(project)).toBe(begun);
    const counted = ['2126-11', '2126-12'].map((month) => database.usage(project.ref, month));
    expect((await Promise.all(counted)).reduce((sum, used) => sum + used, 0)).toBe(begun);
    expect((await registry.get(project.projectId)).pausedAt).toBe(november);

    await registryAt(december).resume(project.projectId);
    for (const sentAt of [november, december])
      expect(await begin(functions[1]!, sentAt)).toBe('begun');
    expect((await registry.get(project.projectId)).pausedAt).toBeUndefined();
  },
);

test('a new send cap does not resume a paused project, and a send that is undone gives its unit back', async () => {
  const project = await database.createProject({ monthlySendCap: 10 });
  const { sends } = newFunction();
  const begun = newNotification(project.ref);
  expect(await sends.begin(begun, 'request', 10)).toBe('begun');
  const registry = registryAt(begun.sentAt.toISOString());
  await registry.pause(project.projectId);
  await registry.set(project.projectId, { monthlySendCap: 20 });
  expect(await sends.begin(newNotification(project.ref), 'request', 20)).toBe('closed');
  expect(await sends.cancel(begun, 'request')).toBe(true);
  expect(await database.usage(project.ref, begun.sentAt.toISOString().slice(0, 7))).toBe(0);
});

test('a project that is being removed cannot be paused, and gets no counters', async () => {
  const registry = registryAt(november);
  const { project } = await registry.create({ projectId: 'leaving', random: randomBytes });
  await registry.remove('leaving');
  await expect(registry.pause('leaving')).rejects.toMatchObject({ code: 'project_not_found' });
  const counter = { table: tables().usage, project: project.ref, name: '2126-11' };
  const closing = closeCounter(database.dynamo, tables(), project, counter);
  await expect(closing).rejects.toMatchObject({ code: 'project_not_found' });
  const usage = await readTable(database.dynamo, tables().usage);
  expect(usage.filter(({ projectRef }) => projectRef === project.ref)).toEqual([]);
});

describe('while subscribers are counted', () => {
  async function closedProject(closedForMs: number, plan = {}) {
    const project = await database.createProject(plan);
    const now = Date.now();
    const { subscriptions } = newFunction(() => new Date(now));
    const stored = subscription();
    await subscriptions.save(project, { ...stored, requestedAt: now - 1 }, 100);
    const counter = subscriberCounter(tables().usage, project.ref);
    await closeCounter(database.dynamo, tables(), project, counter, now + closedForMs);
    const importBatch = batchImport(
      database.dynamo,
      tables(),
      projectStore(database.dynamo, tables().projects, () => new Date()),
      100,
    );
    return { project, subscriptions, stored, counter, until: now + closedForMs, importBatch, now };
  }
  const busy = { code: 'unavailable', retryAfterSeconds: 5 };

  test('nobody is added or removed, and who is known is updated', async () => {
    const { project, subscriptions, stored, counter, until, now } = await closedProject(60_000);
    await expect(subscriptions.save(project, subscription(), 100)).rejects.toMatchObject(busy);
    const leaving = subscriptions.unsubscribe(project, stored.endpoint.href, now);
    await expect(leaving).rejects.toMatchObject(busy);
    expect(await subscriptions.save(project, stored, 100)).toBe('updated');
    expect(await database.usage(project.ref, 'subscribers')).toBe(1);
    await openCounter(database.dynamo, counter, until);
    expect(await subscriptions.save(project, subscription(), 100)).toBe('created');
    await subscriptions.unsubscribe(project, stored.endpoint.href, now);
    expect(await database.usage(project.ref, 'subscribers')).toBe(1);
  });

  test.each(['save', 'unsubscribe'] as const)(
    'if whoever counts has died, it ends by itself with the next %s',
    async (operation) => {
      const { project, subscriptions, stored, now } = await closedProject(-1);
      if (operation === 'save') {
        expect(await subscriptions.save(project, subscription(), 100)).toBe('created');
      } else {
        await subscriptions.unsubscribe(project, stored.endpoint.href, now);
      }
      const expected = operation === 'save' ? 2 : 0;
      expect(await database.usage(project.ref, 'subscribers')).toBe(expected);
    },
  );
});
