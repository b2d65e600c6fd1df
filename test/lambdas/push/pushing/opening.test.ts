import { noCounts } from '../../../../contract/wire/counts.ts';
import { pusherOptions, vapid } from '../../../fixtures/chunk.ts';
import {
  fcm,
  pushVirtually,
  recipientsAt,
  virtualPushing,
} from '../../../fixtures/virtual-pushing.ts';

// A push starts when its bytes are written. A connection may take seconds to open.

/** Connections that take so long to open, but for those that are open by then. */
function slowToOpen(opensAfter: number, count: number) {
  let opened = 0;
  return () => {
    opened += 1;
    return { status: 201, opensAfter: opened > count ? 0 : opensAfter };
  };
}

test('a push that is stopped while its connection opens is not sent', async () => {
  const { startPushing, time, pushes } = virtualPushing(slowToOpen(8000, 3));
  const times = { lastPushAt: 22_000, pausesAt: 22_000, endAt: 25_000 };
  const pusher = startPushing({ ...pusherOptions, times });
  pusher.add(recipientsAt(fcm, 3), { current: { number: 0, ...vapid } }, 0);
  time.at(200, () => pusher.stop());
  expect(await time.until(pusher.end())).toEqual({ ...noCounts, unreached: 3 });
  expect(pushes).toEqual([]);
});

test('a push whose connection opens during a pause is sent after it, as its first attempt', async () => {
  const { startPushing, time, pushes } = virtualPushing(slowToOpen(4000, 3));
  const times = { lastPushAt: 22_000, pausesAt: 3000, endAt: 25_000 };
  const pusher = startPushing({ ...pusherOptions, times });
  pusher.add(recipientsAt(fcm, 3), { current: { number: 0, ...vapid } }, 0);
  time.at(9000, () => {
    times.pausesAt = 22_000;
  });
  expect(await time.until(pusher.end())).toMatchObject({ attempted: 3, delivered: 3 });
  expect(pushes).toHaveLength(3);
  expect(pushes.every(({ at }) => at >= 9000)).toBe(true);
});

test('a push whose connection opens after the last push is unreached', async () => {
  const recipients = recipientsAt(fcm, 3);
  const { done, pushes } = pushVirtually({ recipients, lastPushAt: 1000 }, slowToOpen(2000, 3));
  expect(await done).toEqual({ ...noCounts, unreached: 3 });
  expect(pushes).toEqual([]);
});

test('a browser that passes to another user while the connection opens gets nothing', async () => {
  const recipients = recipientsAt(fcm, 3);
  const isStillWanted = async ({ path }: { readonly path: string }) => path !== '/push/1';
  const { done, pushes } = pushVirtually({ recipients, isStillWanted }, slowToOpen(2500, 3));
  expect(await done).toEqual({ ...noCounts, attempted: 2, delivered: 2, unreached: 1 });
  expect(pushes.map(({ path }) => path)).toEqual(['/push/0', '/push/2']);
});

test('a push that may not start takes nothing from the pace', async () => {
  const { done, pushes } = pushVirtually(
    { recipients: recipientsAt(fcm, 2), pushesPerSecond: 0.1, isStillWanted: async () => true },
    slowToOpen(2500, 1),
  );
  expect(await done).toMatchObject({ delivered: 2 });
  expect(pushes.map(({ at }) => at)).toEqual([2500, 12_450]);
});
