import { notificationSchema } from '../../../contract/wire/notification.ts';
import type { ProjectRef } from '../../../contract/wire/project.ts';
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
  ...{ id, division, sentAt, expiresAt: 5_000_000_000 },
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

const working = storedSlice({ counts: delivered(3), pending: 2 });

describe('usersReached', () => {
  const users = { users: 12, subscribers: undefined };
  const reached = [Uint8Array.of(0b101), Uint8Array.of(0b11)];
  const day = 24 * 60 * 60;

  test('is the number of users with a delivered push, over all slices', async () => {
    const slices = reached.map((bits) => ({ ...ended(), reached: bits }));
    expect(await get(slices, 10, users)).toMatchObject({ status: 'sent', usersReached: 4 });
    const left = slices.map((slice) => ({ ...slice, ended: undefined }));
    const interrupted = { status: 'interrupted', usersReached: 4 };
    expect(await get(left, day, users)).toMatchObject(interrupted);
    const nothing = { status: 'interrupted', usersReached: 0 };
    expect(await get([undefined, undefined], day, users)).toMatchObject(nothing);
  });

  test('is absent while the notification is being sent, and for a broadcast', async () => {
    const sending = await get([working, undefined], 10, users);
    expect(sending.status).toBe('sending');
    expect(sending).not.toHaveProperty('usersReached');
    expect(await get([ended(), ended()])).not.toHaveProperty('usersReached');
  });
});

test('of a sample, `shown` is the number of reports times its factor, and clicks are exact', async () => {
  const events = { shown: 31, clicked: 7 };
  const of = (change: Partial<Division>) => get([ended(9), ended(9)], 10, { ...change, events });
  expect(await of({ shownSample: 10 })).toMatchObject({ shown: 310, clicked: 7, shownSample: 10 });
  const all = await of({});
  expect(all).toMatchObject(events);
  expect(all).not.toHaveProperty('shownSample');
});
