import { noCounts } from '../../../contract/wire/counts.ts';
import type { ProjectRef } from '../../../contract/wire/project.ts';
import {
  findNotification,
  notificationResult,
} from '../../../lambdas/results/notification-result.ts';
import { stopNotification } from '../../../lambdas/stop-notification/stop-notification.ts';
import { deliveriesOf } from '../../../lambdas/store/deliveries.ts';
import { sliceId } from '../../../lambdas/store/items.ts';
import type { NotificationStore } from '../../../lambdas/store/notifications.ts';
import { type SliceKey, sliceStore } from '../../../lambdas/store/slices.ts';
import { MemoryDatabase, tables } from '../../simulation/database/memory-database.ts';
import { sliceKey, writeOf } from '../store/stored-notifications.ts';

const id = '01890a5d-ac96-774b-bcce-b302099a8057';
const ref = 'shop-1' as ProjectRef;
const sentAt = new Date('2026-11-20T12:00:00Z');
const after = (ms: number) => sentAt.getTime() + ms;
const division = {
  ...{ subscribers: 100, conditions: {}, slices: 4, countersPerSlice: 2, respondedAsync: true },
};
const notification = { id, content: { title: 'T' }, division, sentAt, expiresAt: 5_000_000_000 };

function setup() {
  const database = new MemoryDatabase({ now: () => 0 });
  const slices = sliceStore(database.client(), tables.deliveries);
  const stops: number[] = [];
  const find: NotificationStore['find'] = async () => notification;
  let nowMs = after(10_000);
  const record = jest.fn(async () => {});
  const deps = {
    record,
    notifications: { find },
    deliveries: deliveriesOf(database.client(), tables.deliveries),
    slices: {
      stop: async (key: SliceKey, at: number) => {
        stops.push(key.slice);
        await slices.stop(key, at);
      },
    },
    clock: () => new Date(nowMs),
  };
  async function stop(atMs = 10_000) {
    nowMs = after(atMs);
    const found = await findNotification(deps, { ref }, id);
    const stopped = await stopNotification(deps, { ref }, found);
    return notificationResult(stopped.notification, stopped.delivery, deps.clock());
  }
  /** Leases a slice until a minute after the send, or ends it. */
  async function write(slice: number, ended?: 'delivered') {
    const counts = { ...noCounts, attempted: 10, delivered: 10 };
    const progress = { until: after(60_000), claimed: 12, counts, isRead: true, ended };
    await slices.write(sliceKey({ id }, slice), writeOf('a', 1, progress));
  }
  const isStopped = async () =>
    (await slices.find(id, [0, 1, 2, 3])).map((slice) => slice?.stoppedAt !== undefined);
  return { deps, database, stops, stop, write, isStopped, record };
}

test('a stop marks every slice that has not ended, also those that nobody has leased', async () => {
  const { stop, write, isStopped, database } = setup();
  await write(0);
  await write(1, 'delivered');
  const { unreached, ...stopping } = await stop();
  expect(stopping).toMatchObject({ id, status: 'stopping', attempted: 20, delivered: 20 });
  expect(unreached).toBeUndefined();
  expect(await isStopped()).toEqual([true, false, true, true]);
  const unleased = database.items(tables.deliveries).find((item) => item.id === sliceId(id, 3));
  const { expiresAt } = notification;
  expect(unleased).toEqual({ id: sliceId(id, 3), expiresAt, stoppedAt: after(10_000) });
});

test('an interrupted notification keeps its status, and no repeated request continues it', async () => {
  const { stop, isStopped } = setup();
  const twoHours = 2 * 60 * 60 * 1000;
  expect(await stop(twoHours)).toMatchObject({ status: 'interrupted', unreached: 100 });
  expect(await isStopped()).toEqual([true, true, true, true]);
});

describe('a stop is recorded once', () => {
  test.each([
    { ended: [0, 1, 2], recorded: 1 },
    { ended: [0, 1, 2, 3], recorded: 0 },
  ])('unless nothing is open: $ended have ended', async ({ ended, recorded }) => {
    const { stop, write, record } = setup();
    for (const slice of ended) await write(slice, 'delivered');
    await stop();
    expect(record).toHaveBeenCalledTimes(recorded);
  });

  test('if the write of one slice fails, or the counts cannot be read', async () => {
    const { deps, record, isStopped } = setup();
    const found = await findNotification(deps, { ref }, id);
    const busy = new Error('busy');
    const stop = (key: SliceKey, at: number) =>
      key.slice === 2 ? Promise.reject(busy) : deps.slices.stop(key, at);
    const find = () => Promise.reject(busy);
    for (const failing of [{ slices: { stop } }, { notifications: { find } }]) {
      const stopping = stopNotification({ ...deps, ...failing }, { ref }, found);
      await expect(stopping).rejects.toBe(busy);
    }
    expect(record).toHaveBeenCalledTimes(2);
    expect(await isStopped()).toEqual([true, true, true, true]);
  });
});

test('a notification that is cancelled meanwhile is not found', async () => {
  const { deps } = setup();
  const found = await findNotification(deps, { ref }, id);
  const cancelled = { ...deps, notifications: { find: async () => undefined } };
  await expect(stopNotification(cancelled, { ref }, found)).rejects.toMatchObject({
    code: 'notification_not_found',
  });
});
