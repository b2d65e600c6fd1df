import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { noCounts } from '../../../contract/wire/counts.ts';
import type { ProjectRef } from '../../../contract/wire/project.ts';
import { deliveriesOf } from '../../../lambdas/store/deliveries.ts';
import { isConditionFailure } from '../../../lambdas/store/dynamo.ts';
import type { SliceEnd, SliceItem } from '../../../lambdas/store/items.ts';
import { eventCounter, eventCounterStore } from '../../../lambdas/store/notifications.ts';
import {
  cancelCondition,
  type LeaseEvent,
  type LeaseState,
  refusal,
  stopCondition,
  writeCondition,
} from '../../../lambdas/store/slices.ts';
import { useDatabase } from '../../fixtures/database.ts';
import { newNotification, sliceKey, slicesOf, writeOf } from './stored-notifications.ts';

const database = useDatabase();

let made = 0;

const slices = () => slicesOf(database);
const newKey = () => {
  made += 1;
  return sliceKey({ id: `slice-${made}` });
};
const first = async (key: ReturnType<typeof newKey>) =>
  (await slices().find(key.notificationId, [0]))[0];

const counts = { ...noCounts, attempted: 3, delivered: 2, failed: 1, failures: { refused: 1 } };

test('a slice is claimed by one of many invocations', async () => {
  const key = newKey();
  const ids = Array.from({ length: 20 }, (_, index) => `invocation ${index}`);
  const refused = await Promise.all(ids.map((by) => slices().write(key, writeOf(by))));
  const winners = ids.filter((_, index) => refused[index] === undefined);
  expect(winners).toHaveLength(1);
  expect((await first(key))?.lease?.by).toBe(winners[0]);
});

test('a refused write returns the slice as it is', async () => {
  const key = newKey();
  const progress = { position: 8, claimed: 7, counts, reached: Uint8Array.of(5), isRead: true };
  await slices().write(key, writeOf('a', 1, { until: 77, ...progress }));
  const stored = { lease: { by: 'a', n: 1, until: 77 }, ...progress };
  expect(await slices().write(key, writeOf('b'))).toEqual({ refusal: 'lost', slice: stored });
  expect(await first(key)).toEqual(stored);
});

test('a stop keeps the time of the first one, also of a slice that nobody has had', async () => {
  const key = newKey();
  await slices().stop(key, 900);
  await slices().stop(key, 5000);
  const stopped = { stoppedAt: 900, lease: undefined, position: 0, counts: noCounts };
  expect(await first(key)).toMatchObject(stopped);
  expect(await slices().write(key, writeOf('a'))).toMatchObject({
    ...{ refusal: 'stopped', slice: stopped },
  });
});

test('more than 100 slices are found, in the given order', async () => {
  const { notificationId } = newKey();
  const numbers = Array.from({ length: 131 }, (_, index) => 130 - index);
  await Promise.all(
    numbers
      .filter((number) => number !== 7)
      .map((number) =>
        slices().write(
          sliceKey({ id: notificationId }, number),
          writeOf('a', 1, { position: number }),
        ),
      ),
  );
  const found = await slices().find(notificationId, numbers);
  expect(found.map((slice) => slice?.position)).toEqual(
    numbers.map((number) => (number === 7 ? undefined : number)),
  );
});

/** Every write in this test is the second one of a lease of `me`, or would be its first for the slice. */
const id = { by: 'me/1', n: 2 };

/** The last write of the slice. */
const leases = {
  'nobody   ': undefined,
  'me 1     ': { by: 'me/1', n: 1 },
  'me 2     ': id,
  'me 3     ': { by: 'me/1', n: 3 },
  'other 1  ': { by: 'other', n: 1 },
  'other 2  ': { by: 'other', n: 2 },
};
const ends: Readonly<Record<string, SliceEnd | undefined>> = {
  'open     ': undefined,
  delivered: 'delivered',
  cancelled: 'cancelled',
};

/** Recipients that were claimed. */
const claims = { none: 0, some: 1 };

const write = (known: LeaseState['lease'], knowsStop = false): LeaseEvent => ({
  ...{ kind: 'write', id, known, knowsStop },
});
const other = { by: 'other', n: 1 };
const events: Readonly<Record<string, LeaseEvent>> = {
  first: write(undefined),
  next: write({ by: 'me/1', n: 1 }),
  takeOver: write(other),
  firstS: write(undefined, true),
  nextS: write({ by: 'me/1', n: 1 }, true),
  takeOvS: write(other, true),
  stop: { kind: 'stop' },
  cancel: { kind: 'cancel', by: 'me', isAwaited: true },
  cancelA: { kind: 'cancel', by: 'me', isAwaited: false },
};

const states = Object.entries(leases).flatMap(([whose, lease]) =>
  Object.entries(ends).flatMap(([when, ended]) =>
    [false, true].map((isStopped) => ({
      name: `${whose} ${when} ${isStopped ? 'stopped' : '       '}`,
      state: { lease, ended, isStopped },
    })),
  ),
);

/** What was claimed decides only about a cancellation. */
const cells = (state: Omit<LeaseState, 'claimed'>) => [
  ...Object.values(events).map((event) => refusal({ ...state, claimed: claims.some }, event)),
  refusal({ ...state, claimed: claims.none }, events.cancel!),
];

test('each state of a slice with each event: S: the writer knows that the slice is stopped; A: nobody waits', () => {
  const line = (name: string, columns: readonly (string | undefined)[]) =>
    `${name.padEnd(27)} ${columns.map((column = 'may') => column.padEnd(8)).join(' ')}`.trimEnd();
  const heading = line('', [...Object.keys(events), 'c. unclaimed']);
  const rows = states.map(({ name, state }) => line(name, cells(state)));
  expect([heading, ...rows].join('\n')).toMatchInlineSnapshot(`
"                            first    next     takeOver firstS   nextS    takeOvS  stop     cancel   cancelA  c. unclaimed
nobody    open              may      lost     lost     may      lost     lost     may      lost     may      may
nobody    open      stopped stopped  lost     lost     may      lost     lost     stopped  stopped  stopped  stopped
nobody    delivered         ended    lost     lost     ended    lost     lost     ended    ended    may      may
nobody    delivered stopped ended    lost     lost     ended    lost     lost     ended    stopped  stopped  stopped
nobody    cancelled         ended    lost     lost     ended    lost     lost     ended    ended    may      may
nobody    cancelled stopped ended    lost     lost     ended    lost     lost     ended    stopped  stopped  stopped
me 1      open              may      may      may      may      may      may      may      may      lost     may
me 1      open      stopped stopped  stopped  stopped  may      may      may      stopped  stopped  stopped  stopped
me 1      delivered         ended    ended    ended    ended    ended    ended    ended    ended    lost     may
me 1      delivered stopped ended    ended    ended    ended    ended    ended    ended    stopped  stopped  stopped
me 1      cancelled         ended    ended    ended    ended    ended    ended    ended    ended    lost     may
me 1      cancelled stopped ended    ended    ended    ended    ended    ended    ended    stopped  stopped  stopped
me 2      open              stored   stored   stored   stored   stored   stored   may      may      lost     may
me 2      open      stopped stored   stored   stored   stored   stored   stored   stopped  stopped  stopped  stopped
me 2      delivered         stored   stored   stored   stored   stored   stored   ended    ended    lost     may
me 2      delivered stopped stored   stored   stored   stored   stored   stored   ended    stopped  stopped  stopped
me 2      cancelled         stored   stored   stored   stored   stored   stored   ended    ended    lost     may
me 2      cancelled stopped stored   stored   stored   stored   stored   stored   ended    stopped  stopped  stopped
me 3      open              lost     lost     lost     lost     lost     lost     may      may      lost     may
me 3      open      stopped lost     lost     lost     lost     lost     lost     stopped  stopped  stopped  stopped
me 3      delivered         lost     lost     lost     lost     lost     lost     ended    ended    lost     may
me 3      delivered stopped lost     lost     lost     lost     lost     lost     ended    stopped  stopped  stopped
me 3      cancelled         lost     lost     lost     lost     lost     lost     ended    ended    lost     may
me 3      cancelled stopped lost     lost     lost     lost     lost     lost     ended    stopped  stopped  stopped
other 1   open              lost     lost     may      lost     lost     may      may      lost     lost     may
other 1   open      stopped lost     lost     stopped  lost     lost     may      stopped  stopped  stopped  stopped
other 1   delivered         lost     lost     ended    lost     lost     ended    ended    ended    lost     may
other 1   delivered stopped lost     lost     ended    lost     lost     ended    ended    stopped  stopped  stopped
other 1   cancelled         lost     lost     ended    lost     lost     ended    ended    ended    lost     may
other 1   cancelled stopped lost     lost     ended    lost     lost     ended    ended    stopped  stopped  stopped
other 2   open              lost     lost     lost     lost     lost     lost     may      lost     lost     may
other 2   open      stopped lost     lost     lost     lost     lost     lost     stopped  stopped  stopped  stopped
other 2   delivered         lost     lost     lost     lost     lost     lost     ended    ended    lost     may
other 2   delivered stopped lost     lost     lost     lost     lost     lost     ended    stopped  stopped  stopped
other 2   cancelled         lost     lost     lost     lost     lost     lost     ended    ended    lost     may
other 2   cancelled stopped lost     lost     lost     lost     lost     lost     ended    stopped  stopped  stopped"
`);
});

const detailed = states.flatMap(({ name, state }) =>
  Object.entries(claims).map(([what, claimed]) => ({
    name: `${name} ${what}`,
    state: { ...state, claimed },
  })),
);

test.each(detailed)('the database refuses the same: $name', async ({ state }) => {
  const Item: SliceItem = {
    ...{ id: 'n/0', expiresAt: 5_000_000_000, claimed: state.claimed },
    ...(state.lease && { leasedBy: state.lease.by, leaseWrite: state.lease.n }),
    ...(state.ended && { ended: state.ended }),
    ...(state.isStopped && { stoppedAt: 900 }),
  };
  const { DELIVERIES_TABLE: TableName } = database.tables;
  await database.dynamo.send(new PutCommand({ TableName, Item }));
  for (const event of Object.values(events)) {
    const { expression, values } = conditionOf(event);
    const written = database.dynamo
      .send(
        new UpdateCommand({
          ...{ TableName, Key: { id: Item.id }, UpdateExpression: 'SET written = :written' },
          ConditionExpression: expression,
          ExpressionAttributeValues: {
            ':written': true,
            ...Object.fromEntries(
              Object.entries(values).map(([name, value]) => [`:${name}`, value]),
            ),
          },
        }),
      )
      .then(
        () => true,
        (error) => {
          if (!isConditionFailure(error)) throw error;
          return false;
        },
      );
    expect([event, await written]).toEqual([event, refusal(state, event) === undefined]);
  }
});

function conditionOf(event: LeaseEvent) {
  switch (event.kind) {
    case 'write':
      return writeCondition(event);
    case 'stop':
      return { expression: stopCondition, values: {} };
    case 'cancel':
      return cancelCondition(event.by, event.isAwaited);
  }
}

const project = 'shop-1' as ProjectRef;
const counters = () => eventCounterStore(database.dynamo, database.tables.DELIVERIES_TABLE);
const deliveries = () => deliveriesOf(database.dynamo, database.tables.DELIVERIES_TABLE);

/** A notification of three slices with two event counters each, of which the first two exist. */
async function storedNotification() {
  const { division, ...rest } = newNotification(project);
  const notification = { ...rest, division: { ...division, slices: 3, countersPerSlice: 2 } };
  for (const number of [0, 1]) {
    await counters().create(eventCounter(project, notification.id, number, 5_000_000_000));
  }
  return notification;
}

test('events are counted in the counter that they name, each once', async () => {
  const notification = await storedNotification();
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

test('a counter that is created again keeps its events', async () => {
  const notification = await storedNotification();
  await counters().count(project, notification.id, 1, 'shown');
  await counters().create(eventCounter(project, notification.id, 1, 5_000_000_000));
  expect(await deliveries()([notification])).toMatchObject([{ shown: 1 }]);
});

test.each([
  ['another project', 'blog-1' as ProjectRef, 0],
  ['a later project of the same id', 'shop-2' as ProjectRef, 0],
  ['an unknown counter', project, 2],
])('events of %s are refused and leave nothing', async (_, from, counter) => {
  const notification = await storedNotification();
  expect(await counters().count(from, notification.id, counter, 'shown')).toBe(false);
  expect(await counters().count(from, notification.id, counter, 'clicked')).toBe(false);
  expect(await deliveries()([notification])).toMatchObject([{ shown: 0, clicked: 0 }]);
});

test('the deliveries of several notifications are read together, each in the order of its slices', async () => {
  const [one, other] = [await storedNotification(), await storedNotification()];
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
