import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { isConditionFailure } from '../../../lambdas/store/dynamo.ts';
import type { SliceEnd, SliceItem } from '../../../lambdas/store/items.ts';
import {
  cancelCondition,
  type LeaseEvent,
  type LeaseState,
  refusal,
  stopCondition,
  writeCondition,
} from '../../../lambdas/store/slices.ts';
import { useDatabase } from '../../fixtures/database.ts';

const database = useDatabase();

/** Every write in this test is the second one of the invocation `me`, or would be its first for the slice. */
const id = { by: 'me', n: 2 };

/** The last write of the slice. */
const leases = {
  'nobody   ': undefined,
  'me 1     ': { by: 'me', n: 1 },
  'me 2     ': id,
  'me 3     ': { by: 'me', n: 3 },
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
  next: write({ by: 'me', n: 1 }),
  takeOver: write(other),
  firstS: write(undefined, true),
  nextS: write({ by: 'me', n: 1 }, true),
  takeOvS: write(other, true),
  stop: { kind: 'stop' },
  cancel: { kind: 'cancel', by: 'me' },
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

test('each state of a slice with each event: S means that the writer knows that the slice is stopped', () => {
  const line = (name: string, columns: readonly (string | undefined)[]) =>
    `${name.padEnd(27)} ${columns.map((column = 'may') => column.padEnd(8)).join(' ')}`.trimEnd();
  const heading = line('', [...Object.keys(events), 'c. unclaimed']);
  const rows = states.map(({ name, state }) => line(name, cells(state)));
  expect([heading, ...rows].join('\n')).toMatchInlineSnapshot(`
"                            first    next     takeOver firstS   nextS    takeOvS  stop     cancel   c. unclaimed
nobody    open              may      lost     lost     may      lost     lost     may      lost     may
nobody    open      stopped stopped  lost     lost     may      lost     lost     stopped  stopped  stopped
nobody    delivered         ended    lost     lost     ended    lost     lost     ended    ended    ended
nobody    delivered stopped ended    lost     lost     ended    lost     lost     ended    stopped  stopped
nobody    cancelled         ended    lost     lost     ended    lost     lost     ended    ended    ended
nobody    cancelled stopped ended    lost     lost     ended    lost     lost     ended    stopped  stopped
me 1      open              may      may      may      may      may      may      may      may      may
me 1      open      stopped stopped  stopped  stopped  may      may      may      stopped  stopped  stopped
me 1      delivered         ended    ended    ended    ended    ended    ended    ended    ended    ended
me 1      delivered stopped ended    ended    ended    ended    ended    ended    ended    stopped  stopped
me 1      cancelled         ended    ended    ended    ended    ended    ended    ended    ended    ended
me 1      cancelled stopped ended    ended    ended    ended    ended    ended    ended    stopped  stopped
me 2      open              stored   stored   stored   stored   stored   stored   may      may      may
me 2      open      stopped stored   stored   stored   stored   stored   stored   stopped  stopped  stopped
me 2      delivered         stored   stored   stored   stored   stored   stored   ended    ended    ended
me 2      delivered stopped stored   stored   stored   stored   stored   stored   ended    stopped  stopped
me 2      cancelled         stored   stored   stored   stored   stored   stored   ended    ended    ended
me 2      cancelled stopped stored   stored   stored   stored   stored   stored   ended    stopped  stopped
me 3      open              lost     lost     lost     lost     lost     lost     may      may      may
me 3      open      stopped lost     lost     lost     lost     lost     lost     stopped  stopped  stopped
me 3      delivered         lost     lost     lost     lost     lost     lost     ended    ended    ended
me 3      delivered stopped lost     lost     lost     lost     lost     lost     ended    stopped  stopped
me 3      cancelled         lost     lost     lost     lost     lost     lost     ended    ended    ended
me 3      cancelled stopped lost     lost     lost     lost     lost     lost     ended    stopped  stopped
other 1   open              lost     lost     may      lost     lost     may      may      lost     may
other 1   open      stopped lost     lost     stopped  lost     lost     may      stopped  stopped  stopped
other 1   delivered         lost     lost     ended    lost     lost     ended    ended    ended    ended
other 1   delivered stopped lost     lost     ended    lost     lost     ended    ended    stopped  stopped
other 1   cancelled         lost     lost     ended    lost     lost     ended    ended    ended    ended
other 1   cancelled stopped lost     lost     ended    lost     lost     ended    ended    stopped  stopped
other 2   open              lost     lost     lost     lost     lost     lost     may      lost     may
other 2   open      stopped lost     lost     lost     lost     lost     lost     stopped  stopped  stopped
other 2   delivered         lost     lost     lost     lost     lost     lost     ended    ended    ended
other 2   delivered stopped lost     lost     lost     lost     lost     lost     ended    stopped  stopped
other 2   cancelled         lost     lost     lost     lost     lost     lost     ended    ended    ended
other 2   cancelled stopped lost     lost     lost     lost     lost     lost     ended    stopped  stopped"
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
      return { expression: cancelCondition, values: { by: event.by, zero: 0 } };
  }
}
