import { noCounts } from '../../../contract/counts.ts';
import type { ProjectRef } from '../../../contract/project.ts';
import { notificationSchema } from '../../../contract/schemas/notification.ts';
import { getNotification } from '../../../lambdas/get-notification/get-notification.ts';
import type { Delivery } from '../../../lambdas/store/deliveries.ts';
import type { Division } from '../../../lambdas/store/items.ts';
import type { StoredNotification } from '../../../lambdas/store/notifications.ts';
import { delivered, sentAt, storedSlice } from '../../fixtures/stored-slice.ts';

const id = '01890a5d-ac96-774b-bcce-b302099a8057';
const ref = 'shop-1' as ProjectRef;
const division: Division = {
  ...{ subscribers: 10, conditions: {}, slices: 2, countersPerSlice: 2, respondedAsync: false },
};
const stored: StoredNotification = {
  ...{ id, division, sentAt },
  content: { title: 'T', url: 'https://example.com/' },
};
const ended = (count = 0) =>
  storedSlice({ isRead: true, ended: 'delivered', counts: delivered(count) });

/** Gets the notification after this many seconds, with these slices. */
async function get(
  slices: Delivery['slices'],
  seconds = 10,
  { events = { shown: 0, clicked: 0 }, ...change }: Partial<Division> & { events?: object } = {},
) {
  const deps = {
    notifications: {
      find: async (project: ProjectRef, wanted: string) =>
        project === ref && wanted === id
          ? { ...stored, division: { ...division, ...change } }
          : undefined,
    },
    deliveries: async () => [{ slices, ...events } as Delivery],
    clock: () => new Date(sentAt.getTime() + seconds * 1000),
  };
  const result = await getNotification(deps, { ref }, id);
  expect(notificationSchema.parse(JSON.parse(JSON.stringify(result)))).toEqual(result);
  return result;
}

test('a notification that was sent has the sums of its slices, and its events', async () => {
  const failed = { attempted: 2, failed: 2, failures: { refused: 1, throttled: 1 } };
  const slices = [ended(5), { ...ended(), counts: { ...noCounts, ...failed } }];
  expect(await get(slices, 10, { events: { shown: 10, clicked: 2 } })).toEqual({
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

const working = storedSlice({ counts: delivered(3), pending: 2 });

test('a notification that is being sent has the counts so far, and no unreached yet', async () => {
  const result = await get([working, undefined]);
  expect(result).toMatchObject({ status: 'sending', attempted: 3, delivered: 3, failed: 0 });
  expect(result).not.toHaveProperty('unreached');
  expect(result).not.toHaveProperty('failures');
});

test.each<[Partial<Division>, object | string]>([
  [{}, 'everyone'],
  [{ users: 3 }, { users: 3 }],
  [{ conditions: { channels: ['news', 'sales'] } }, { channels: ['news', 'sales'] }],
  [{ conditions: { seenWithinDays: 30 } }, { seenWithinDays: 30 }],
  [
    { users: 3, conditions: { channels: ['news'], seenWithinDays: 30 } },
    { users: 3, channels: ['news'], seenWithinDays: 30 },
  ],
])('the audience of %j is %j', async (change, audience) => {
  expect((await get([ended(), ended()], 10, change)).audience).toEqual(audience);
});

test('a notification is found for 90 days', async () => {
  const days = 90 * 24 * 60 * 60;
  const slices = [ended(), ended()];
  expect(await get(slices, days - 1)).toMatchObject({ status: 'sent' });
  await expect(get(slices, days)).rejects.toMatchObject({ code: 'notification_not_found' });
});
