import { noCounts } from '../../../contract/counts.ts';
import { findNotification } from '../../../lambdas/results/find-notification.ts';
import { notificationResult } from '../../../lambdas/results/notification-result.ts';
import { stopNotification } from '../../../lambdas/stop-notification/stop-notification.ts';
import type { NotificationStore } from '../../../lambdas/store/notifications.ts';
import { type ShareKey, type TallyStore, tallyStore } from '../../../lambdas/store/tallies.ts';
import { MemoryDatabase, tables } from '../../simulation/database/memory-database.ts';
import { project } from '../deliver/recorded-share-dependencies.ts';

const id = '01890a5d-ac96-774b-bcce-b302099a8057';
const sentAt = new Date('2026-11-20T12:00:00Z');
const after = (ms: number) => sentAt.getTime() + ms;
/** Four shares with two tallies each. */
const division = { subscribers: 100, shares: 4, talliesPerShare: 2, respondedAsync: true };
const notification = { id, content: { title: 'T' }, division, sentAt };

function setup(change: Partial<TallyStore> = {}) {
  const database = new MemoryDatabase({ now: () => 0 });
  const tallies = tallyStore(database.client(), tables.tallies);
  const stops: number[] = [];
  const find: NotificationStore['find'] = async () => notification;
  let nowMs = after(10_000);
  const deps = {
    notifications: { find },
    tallies: {
      find: tallies.find,
      stop: async (key: ShareKey, at: number) => {
        stops.push(key.firstTally);
        await tallies.stop(key, at);
      },
      ...change,
    },
    clock: () => new Date(nowMs),
  };
  async function stop(atMs = 10_000) {
    nowMs = after(atMs);
    const found = await findNotification(deps, project, id);
    const stopped = await stopNotification(deps, project, found);
    return notificationResult(stopped.notification, stopped.tallies, deps.clock());
  }
  /** Claims a share until a minute after the send, or ends it. */
  async function write(firstTally: number, ended?: 'complete' | 'incomplete') {
    const key = { projectId: 'shop', notificationId: id, firstTally, expiresAt: 1_900_000_000 };
    const counts = { ...noCounts, attempted: 10, delivered: 10 };
    const progress = { until: after(60_000), position: 1, pending: 2, counts, ended };
    await tallies.save(key, { by: 'a', step: 1 }, progress);
  }
  const isStopped = async () =>
    (await tallies.find(id, [0, 2, 4, 6])).map((tally) => tally?.stoppedAt !== undefined);
  return { deps, database, stops, stop, write, isStopped };
}

test('a stop marks every share that has not ended, also those that nobody has claimed', async () => {
  const { stop, write, isStopped, database } = setup();
  await write(0);
  await write(2, 'complete');
  await write(4, 'incomplete');
  const { unreached, ...stopping } = await stop();
  expect(stopping).toMatchObject({ id, status: 'stopping', attempted: 30, delivered: 30 });
  expect(unreached).toBeUndefined();
  expect(await isStopped()).toEqual([true, false, false, true]);
  const unclaimed = database.items(tables.tallies).find(({ tally }) => tally === `${id}#6`);
  const expiresAt = sentAt.getTime() / 1000 + 90 * 24 * 60 * 60;
  expect(unclaimed).toEqual({
    ...{ tally: `${id}#6`, projectId: 'shop' },
    ...{ expiresAt, stoppedAt: after(10_000) },
  });
});

test('before any share is claimed the notification is stopped at once', async () => {
  const { stop } = setup();
  expect(await stop()).toMatchObject({ status: 'stopped', attempted: 0, unreached: 100 });
});

test('a stop is repeated for the shares that were not stopped', async () => {
  let isFailing = true;
  const setupFailing = setup();
  const { stop } = setupFailing.deps.tallies;
  const deps = {
    ...setupFailing.deps,
    tallies: {
      ...setupFailing.deps.tallies,
      stop: async (key: ShareKey, at: number) => {
        if (isFailing && key.firstTally === 4) throw new Error('throttled');
        await stop(key, at);
      },
    },
  };
  const found = await findNotification(deps, project, id);
  await expect(stopNotification(deps, project, found)).rejects.toThrow('throttled');
  isFailing = false;
  await stopNotification(deps, project, await findNotification(deps, project, id));
  expect(await setupFailing.isStopped()).toEqual([true, true, true, true]);
});

test('a notification that was sent to its end is returned as it is', async () => {
  const { stop, write, stops } = setup();
  for (const share of [0, 2, 4, 6]) await write(share, 'complete');
  expect(await stop()).toMatchObject({ status: 'sent', attempted: 48 });
  expect(stops).toEqual([]);
});

test('an interrupted notification keeps its status, and no repeated request hands it over', async () => {
  const { stop, isStopped } = setup();
  const twoHours = 2 * 60 * 60 * 1000;
  expect(await stop(twoHours)).toMatchObject({ status: 'interrupted', unreached: 100 });
  expect(await isStopped()).toEqual([true, true, true, true]);
});

test('a notification that is cancelled meanwhile is not found', async () => {
  const { deps } = setup();
  const found = await findNotification(deps, project, id);
  const cancelled = { ...deps, notifications: { find: async () => undefined } };
  await expect(stopNotification(cancelled, project, found)).rejects.toMatchObject({
    code: 'notification_not_found',
  });
});
