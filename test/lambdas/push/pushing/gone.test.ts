import type { Recipient } from '../../../../contract/infrastructure/slice.ts';
import { noCounts } from '../../../../contract/wire/counts.ts';
import { GoneInMasses, markAt } from '../../../../lambdas/push/pushing/gone.ts';
import type { Mark } from '../../../../lambdas/push/pushing/pusher.ts';
import { fcm, mozilla, pushVirtually, recipientsAt } from '../../../fixtures/virtual-pushing.ts';

/** What becomes of pushes of which `g` are gone, and `.` accepted. */
function judged(pushes: string) {
  const decided = { removed: 0, kept: 0 };
  const gone = new GoneInMasses<number>((_, isDoubtful) => {
    decided[isDoubtful ? 'kept' : 'removed'] += 1;
  });
  for (const [index, push] of [...pushes].entries()) {
    if (push === 'g') gone.gone(index);
    else gone.accepted();
  }
  gone.finish();
  return decided;
}

test.each([
  ['below 50 pushes, a push service is believed', 'g'.repeat(49), 49, 0],
  ['of 50, all are kept', 'g'.repeat(50), 0, 50],
  ['half of 50 are removed', 'g.'.repeat(25), 25, 0],
  ['more than half of 50 are kept', `g${'g.'.repeat(24)}g`, 0, 26],
  ['a tenth of many is removed', 'g.........'.repeat(500), 500, 0],
  ['of a list of which 60 % are gone, nearly all are kept', 'ggg..'.repeat(400), 0, 1200],
  [
    'with a fault after many accepted pushes, all are kept',
    `${'.'.repeat(920)}${'g'.repeat(500)}`,
    0,
    500,
  ],
  ['with a fault that is over, these are kept', `${'g'.repeat(100)}${'.'.repeat(30)}`, 0, 100],
  ['after a fault, the last pushes are judged with those before', 'g'.repeat(220), 0, 220],
])('%s', (_, pushes, removed, kept) => {
  expect(judged(pushes)).toEqual({ removed, kept });
});

const day = 24 * 60 * 60_000;

test.each([
  [undefined, 'absent'],
  [0.8, 'young'],
  [0.9, 'counts'],
  [13.9, 'counts'],
  [14.1, 'absent'],
])('a mark of %p days ago is %s', (days, state) => {
  const now = 1_800_000_000_000;
  expect(markAt(days === undefined ? undefined : now - days * day, now)).toBe(state);
});

/** Pushes at a push service of which most are gone, and at one that accepts all. */
async function push(gone: readonly Recipient[], status: (at: Recipient['path']) => number) {
  const removed: Recipient[] = [];
  const marks: Mark[] = [];
  const { done } = pushVirtually(
    {
      recipients: [...gone, ...recipientsAt(mozilla, 60)],
      remove: async (batch) => {
        removed.push(...batch);
      },
      mark: async (batch) => {
        marks.push(...batch);
      },
    },
    ({ origin, path }) => ({ status: origin === fcm ? status(path) : 201 }),
  );
  return { counts: await done, removed, marks };
}

test('what a push service says is gone of most is kept and marked, and removed if it says so again', async () => {
  const [recipients] = [recipientsAt(fcm, 300)];
  const first = await push(recipients, () => 410);
  expect(first.counts).toEqual({
    ...{ ...noCounts, attempted: 360, delivered: 60, failed: 300 },
    failures: { gone_unconfirmed: 300 },
  });
  expect(first.removed).toEqual([]);
  expect(first.marks).toEqual(recipients.map((one) => [one, expect.any(Number)]));

  const young = recipients.map((one) => ({ ...one, goneSince: -0.5 * day }));
  const soon = await push(young, () => 410);
  expect(soon).toMatchObject({ removed: [], marks: [] });

  const marked = recipients.map((one) => ({ ...one, goneSince: -day }));
  const second = await push(marked, () => 404);
  expect(second.counts).toMatchObject({ removed: 300, removals: { fcm: 300 } });
  expect(second.removed).toHaveLength(300);
});

test('marks are written while connections to the database are left for the lease', async () => {
  const marked: Mark[] = [];
  let [running, most] = [0, 0];
  const { done, time } = pushVirtually(
    {
      recipients: recipientsAt(fcm, 1000),
      mark: async (batch) => {
        running += batch.length;
        most = Math.max(most, running);
        await time.sleep(100);
        running -= batch.length;
        marked.push(...batch);
      },
    },
    () => ({ status: 410 }),
  );
  expect(await done).toMatchObject({ failures: { gone_unconfirmed: 1000 } });
  expect(marked).toHaveLength(1000);
  // The client has 50.
  expect(most).toBeLessThanOrEqual(40);
});

test('subscriptions that a push service refuses, which anybody can make, do not speak for those it calls gone', async () => {
  const refused = recipientsAt(fcm, 600).map((one) => ({ ...one, path: `${one.path}/invented` }));
  const browsers = recipientsAt(fcm, 200);
  // One after the other, as the hashes of their endpoints mix them.
  const mixed = browsers.flatMap((one, index) => [one, ...refused.slice(3 * index, 3 * index + 3)]);
  const statusOf = (path: string) => (path.endsWith('/invented') ? 400 : 410);
  const { counts, removed } = await push(mixed, statusOf);
  expect(counts.failures).toEqual({ gone_unconfirmed: 200, refused: 600 });
  expect(removed).toEqual([]);
});

test('an accepted push ends the mark', async () => {
  const recipients = recipientsAt(fcm, 3).map((one) => ({ ...one, goneSince: -day }));
  const { counts, marks } = await push(recipients, () => 201);
  expect(counts).toMatchObject({ delivered: 63, failed: 0 });
  expect(marks).toEqual(recipients.map((one) => [one, undefined]));
});
