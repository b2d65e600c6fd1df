import type { ProjectRef } from '../../../contract/wire/project.ts';
import { deliveriesOf } from '../../../lambdas/store/deliveries.ts';
import { eventCounter, eventCounterStore } from '../../../lambdas/store/notifications.ts';
import { useDatabase } from '../../fixtures/database.ts';
import { newNotification, sliceKey, slicesOf, writeOf } from './stored-notifications.ts';

const database = useDatabase();

const project = 'shop-1' as ProjectRef;
const counters = () => eventCounterStore(database.dynamo, database.tables.DELIVERIES_TABLE);
const deliveries = () => deliveriesOf(database.dynamo, database.tables.DELIVERIES_TABLE);

/** A notification of three slices with two event counters each, of which the first two are open. */
async function openNotification() {
  const { division, ...rest } = newNotification(project);
  const notification = { ...rest, division: { ...division, slices: 3, countersPerSlice: 2 } };
  for (const number of [0, 1]) {
    await counters().open(eventCounter(project, notification.id, number, 5_000_000_000));
  }
  return notification;
}

test('events are counted in the counter that they name, each once', async () => {
  const notification = await openNotification();
  const count = (counter: number, type: 'shown' | 'clicked') =>
    counters().count(project, notification.id, counter, type);
  const counted = await Promise.all([
    ...Array.from({ length: 30 }, () => count(0, 'shown')),
    ...Array.from({ length: 20 }, () => count(1, 'shown')),
    count(1, 'clicked'),
  ]);
  expect(counted.every(Boolean)).toBe(true);
  expect(await deliveries()([notification])).toEqual([
    { slices: [undefined, undefined, undefined], shown: 50, clicked: 1 },
  ]);
});

test('a counter that is opened again keeps its events', async () => {
  const notification = await openNotification();
  await counters().count(project, notification.id, 1, 'shown');
  await counters().open(eventCounter(project, notification.id, 1, 5_000_000_000));
  expect(await deliveries()([notification])).toMatchObject([{ shown: 1 }]);
});

test.each([
  ['another project', 'blog-1' as ProjectRef, 0],
  ['a later project of the same id', 'shop-2' as ProjectRef, 0],
  ['an unknown counter', project, 2],
])('events of %s are refused and leave nothing', async (_, from, counter) => {
  const notification = await openNotification();
  expect(await counters().count(from, notification.id, counter, 'shown')).toBe(false);
  expect(await counters().count(from, notification.id, counter, 'clicked')).toBe(false);
  expect(await deliveries()([notification])).toMatchObject([{ shown: 0, clicked: 0 }]);
});

test('the deliveries of several notifications are read together, each in the order of its slices', async () => {
  const [one, other] = [await openNotification(), await openNotification()];
  const unknown = newNotification(project);
  await counters().count(project, one.id, 0, 'clicked');
  for (const slice of [0, 2]) {
    const write = writeOf('a', 1, { position: slice });
    await slicesOf(database).write(sliceKey(other, slice), write);
  }
  expect(await deliveries()([one, unknown, other])).toMatchObject([
    { slices: [undefined, undefined, undefined], shown: 0, clicked: 1 },
    { slices: [undefined], shown: 0, clicked: 0 },
    { slices: [{ position: 0 }, undefined, { position: 2 }], shown: 0, clicked: 0 },
  ]);
});
