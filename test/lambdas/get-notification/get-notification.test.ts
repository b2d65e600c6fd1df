import { noCounts } from '../../../contract/counts.ts';
import { notificationSchema } from '../../../contract/schemas/notification.ts';
import { getNotification } from '../../../lambdas/get-notification/get-notification.ts';
import type { StoredNotification } from '../../../lambdas/store/notifications.ts';
import type { Tally } from '../../../lambdas/store/tallies.ts';
import { project } from '../deliver/recorded-share-dependencies.ts';

const id = '01890a5d-ac96-774b-bcce-b302099a8057';
const sentAt = new Date('2026-11-20T12:00:00Z');
const stored: StoredNotification = {
  id,
  content: { title: 'T', url: 'https://example.com/' },
  division: { subscribers: 10, shares: 2, talliesPerShare: 2, respondedAsync: false },
  sentAt,
};

function tally(change: Partial<Tally> = {}): Tally {
  const claim = { by: 'a', step: 1, until: sentAt.getTime() + 27_000 };
  return { claim, position: 1, pending: 0, counts: noCounts, shown: 0, clicked: 0, ...change };
}

const delivered = (count: number) => ({ ...noCounts, attempted: count, delivered: count });

/** Gets the notification after this many seconds, with these tallies. */
async function get(
  tallies: readonly (Tally | undefined)[],
  seconds = 10,
  notification: StoredNotification | undefined = stored,
) {
  const deps = {
    notifications: {
      find: async (projectId: string, wanted: string) =>
        projectId === 'shop' && wanted === id ? notification : undefined,
    },
    tallies: {
      find: async (_: string, numbers: readonly number[]) => numbers.map((n) => tallies[n]),
    },
    clock: () => new Date(sentAt.getTime() + seconds * 1000),
  };
  const result = await getNotification(deps, project, id);
  expect(notificationSchema.parse(JSON.parse(JSON.stringify(result)))).toEqual(result);
  return result;
}

test('a notification that was sent has the sums of its shares and of all its tallies', async () => {
  const failed = { attempted: 2, failed: 2, failures: { refused: 1, throttled: 1 } };
  const result = await get([
    tally({ ended: 'complete', counts: delivered(5), shown: 3, clicked: 1 }),
    tally({ claim: undefined, shown: 2 }),
    tally({ ended: 'complete', counts: { ...noCounts, ...failed }, shown: 1 }),
    tally({ claim: undefined, shown: 4, clicked: 1 }),
  ]);
  expect(result).toEqual({
    id,
    title: 'T',
    url: 'https://example.com/',
    audience: 'everyone',
    status: 'sent',
    sentAt: '2026-11-20T12:00:00.000Z',
    ...{ attempted: 7, delivered: 5, removed: 0, failed: 2 },
    failures: { refused: 1, throttled: 1 },
    shown: 10,
    clicked: 2,
  });
});

test('a notification that is being sent has the counts so far, and no unreached yet', async () => {
  const result = await get([tally({ counts: delivered(3), pending: 2 })]);
  expect(result).toMatchObject({ status: 'sending', attempted: 3, delivered: 3, failed: 0 });
  expect(result).not.toHaveProperty('unreached');
  expect(result).not.toHaveProperty('failures');
});

test('a notification that is being stopped has the counts so far, and later the unreached', async () => {
  const tallies = [tally({ counts: delivered(3), pending: 2, stoppedAt: sentAt.getTime() })];
  const { unreached, ...stopping } = await get(tallies);
  expect(stopping).toMatchObject({ status: 'stopping', attempted: 3, delivered: 3, failed: 0 });
  expect(unreached).toBeUndefined();
  expect(await get(tallies, 30)).toMatchObject({ status: 'stopped', attempted: 5, unreached: 5 });
});

test('in an interrupted one, pending pushes have failed and all others are unreached', async () => {
  const result = await get([tally({ counts: delivered(3), pending: 2 })], 30);
  expect(result).toMatchObject({
    status: 'interrupted',
    ...{ attempted: 5, delivered: 3, failed: 2, unreached: 5 },
    failures: { interrupted: 2 },
  });
});

test('a notification that was not delivered in time has unreached subscribers', async () => {
  const result = await get([
    tally({ ended: 'complete', counts: delivered(5) }),
    undefined,
    tally({ ended: 'incomplete', counts: delivered(2) }),
  ]);
  expect(result).toMatchObject({ status: 'sent', attempted: 7, unreached: 3 });
});

test('the audience of a targeted notification is the number of its user ids', async () => {
  const division = { users: 3, shares: 1, talliesPerShare: 1, respondedAsync: false };
  const result = await get([tally({ ended: 'complete' })], 10, { ...stored, division });
  expect(result.audience).toEqual({ users: 3 });
});

test('the audience of a notification with conditions has those that were given', async () => {
  const divided = { shares: 1, talliesPerShare: 1, respondedAsync: false };
  const audienceOf = async (division: object) => {
    const notification = { ...stored, division: { ...divided, ...division } };
    return (await get([tally({ ended: 'complete' })], 10, notification)).audience;
  };
  const [channels, seenWithinDays] = [['news', 'sales'], 30];
  expect(await audienceOf({ subscribers: 9, channels })).toEqual({ channels });
  expect(await audienceOf({ subscribers: 9, seenWithinDays })).toEqual({ seenWithinDays });
  const all = { users: 3, channels, seenWithinDays };
  expect(await audienceOf(all)).toEqual(all);
});

test('with conditions, at least one subscriber is unreached if a part of the audience was not read', async () => {
  const division = { ...stored.division, subscribers: 1000, channels: ['news'] };
  const ended = [tally({ ended: 'complete', counts: delivered(2) }), undefined];
  const incomplete = [...ended, tally({ ended: 'incomplete', counts: delivered(2) })];
  expect(await get(incomplete, 10, { ...stored, division })).toMatchObject({ unreached: 1 });
  const complete = [...ended, tally({ ended: 'complete', counts: delivered(2) })];
  expect(await get(complete, 10, { ...stored, division })).not.toHaveProperty('unreached');
});

describe('usersReached', () => {
  const division = { users: 12, shares: 2, talliesPerShare: 1, respondedAsync: true };
  const targeted = { ...stored, division };
  const reached = [Uint8Array.of(0b101), Uint8Array.of(0b11)];
  const getWith = (ended: Tally['ended'], seconds: number) =>
    get(
      reached.map((bits) => tally({ ended, reached: bits })),
      seconds,
      targeted,
    );

  test('is the number of users with a delivered push, over all shares', async () => {
    expect(await getWith('complete', 10)).toMatchObject({ status: 'sent', usersReached: 4 });
    const day = 24 * 60 * 60;
    expect(await getWith(undefined, day)).toMatchObject({ status: 'interrupted', usersReached: 4 });
    const nothing = await get([undefined, undefined], day, targeted);
    expect(nothing).toMatchObject({ status: 'interrupted', usersReached: 0 });
  });

  test('is absent while the notification is being sent, and for a broadcast', async () => {
    const sending = await getWith(undefined, 10);
    expect(sending.status).toBe('sending');
    expect(sending).not.toHaveProperty('usersReached');
    const all = Array(4).fill(tally({ ended: 'complete' }));
    expect(await get(all)).not.toHaveProperty('usersReached');
  });
});

test('a notification is found for 90 days', async () => {
  const days = 90 * 24 * 60 * 60;
  const tallies = [tally({ ended: 'complete' }), undefined, tally({ ended: 'complete' })];
  expect(await get(tallies, days - 1)).toMatchObject({ status: 'sent' });
  await expect(get(tallies, days)).rejects.toMatchObject({ code: 'notification_not_found' });
});

test.each([
  ['an unknown id', '01890a5d-ac96-774b-bcce-b302099a8058'],
  ['an invalid id', undefined],
])('%s is not found', async (_, wanted) => {
  const deps = {
    notifications: { find: async () => undefined },
    tallies: { find: async () => [] },
    clock: () => sentAt,
  };
  await expect(getNotification(deps, project, wanted)).rejects.toMatchObject({
    code: 'notification_not_found',
  });
});
