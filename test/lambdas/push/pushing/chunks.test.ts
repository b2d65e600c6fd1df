import type { Recipient } from '../../../../contract/infrastructure/slice.ts';
import { noCounts } from '../../../../contract/wire/counts.ts';
import type { PusherOptions, PushTimes } from '../../../../lambdas/push/pushing/pusher.ts';
import { countsOf, pusherOptions, vapid } from '../../../fixtures/chunk.ts';
import {
  type Conduct,
  fcm,
  mozilla,
  recipientsAt,
  virtualPushing,
} from '../../../fixtures/virtual-pushing.ts';
import type { Scheduler } from '../../../simulation/time/scheduler.ts';

/** Pushes to recipients that are added later. */
function start(
  conduct: (origin: string, now: number) => Conduct,
  given: PushTimes | ((time: Scheduler) => PushTimes) = {
    ...{ lastPushAt: 22_000, pausesAt: 22_000, endAt: 25_000, lastAttemptAt: 22_000 },
  },
  options: Partial<PusherOptions> = {},
) {
  const { startPushing, time, pushes } = virtualPushing(({ origin }, { now }) =>
    conduct(origin, now),
  );
  const times = typeof given === 'function' ? given(time) : given;
  const running = startPushing({ ...pusherOptions, ...options, times });
  const pairs = { current: { number: 0, ...vapid } };
  const add = (recipients: readonly Recipient[]) => running.add(recipients, pairs, time.now);
  return { running, add, time, pushes };
}

const accepts = (after: number): Conduct => ({ status: 201, after });
const silent: Conduct = {};
const throttles: Conduct = { status: 429, headers: { 'retry-after': '60' }, after: 0 };

/** Times of an asynchronous slice, whose pauses are put off every two seconds. */
function longTimes(time: Scheduler): PushTimes {
  return {
    ...{ lastPushAt: 800_000, endAt: 810_000, lastAttemptAt: 800_000 },
    get pausesAt() {
      return Math.floor(time.now / 2000) * 2000 + 4500;
    },
  };
}

test('wants more recipients when all it has are pushed to', async () => {
  const { running, add, time } = start(() => accepts(50));
  add(recipientsAt(fcm, 500));
  await time.until(running.wantsMore());
  expect(running.soFar().attempted).toBeGreaterThan(100);
  add(recipientsAt(fcm, 500));
  expect(await time.until(countsOf(running))).toEqual({
    ...noCounts,
    ...{ attempted: 1000, delivered: 1000 },
  });
});

test('wants more recipients while a push service that is silent holds up its own', async () => {
  const { running, add, time } = start((origin) => (origin === mozilla ? silent : accepts(50)));
  add([...recipientsAt(mozilla, 100), ...recipientsAt(fcm, 950)]);
  await time.until(running.wantsMore());
  expect(time.now).toBeLessThan(5000);
  add(recipientsAt(fcm, 950));
  expect(await time.until(countsOf(running))).toMatchObject({ delivered: 1900 });
});

test('wants more recipients while a push service that always responds late holds up its own', async () => {
  // At different times, so that it is never silent.
  let responses = 0;
  const late = () => accepts(1200 + ((responses++ * 37) % 800));
  const { running, add, time } = start((origin) => (origin === mozilla ? late() : accepts(50)));
  add(recipientsAt(mozilla, 2000));
  // First before any response, when it is silent, and then between its responses.
  for (let times = 0; times < 2; times += 1) {
    await time.until(running.wantsMore());
    add(recipientsAt(fcm, 100));
    await time.until(time.sleep(1500));
  }
  expect(time.now).toBeLessThan(5000);
  await time.until(countsOf(running));
});

test('wants more recipients while a push service that refuses most pushes holds up its own', async () => {
  let responses = 0;
  const mostlyRefuses = () => ({ ...(responses++ % 9 ? throttles : accepts(50)), after: 50 });
  const { running, add, time } = start((origin) =>
    origin === mozilla ? mostlyRefuses() : accepts(50),
  );
  add([...recipientsAt(mozilla, 20_000), ...recipientsAt(fcm, 950)]);
  await time.until(running.wantsMore());
  expect(time.now).toBeLessThan(5000);
  add(recipientsAt(fcm, 950));
  await time.until(countsOf(running));
}, 60_000);

test('wants no more than fit in memory', async () => {
  const { running, add, time } = start(() => silent);
  add(recipientsAt(mozilla, 1000));
  await time.until(running.wantsMore());
  expect(running.hasRoom).toBe(true);
  // The same recipients again: only their number matters.
  for (let chunk = 0; chunk < 200; chunk += 1) add(recipientsAt(mozilla, 1000));
  await time.until(time.sleep(2000));
  expect(running.hasRoom).toBe(false);
  await time.until(countsOf(running));
}, 60_000);

test('reaches everyone of a slow push service for as long as it may', async () => {
  const { running, add, time } = start(() => accepts(4000), longTimes);
  add(recipientsAt(fcm, 4000));
  expect(await time.until(countsOf(running))).toMatchObject({ delivered: 4000, unreached: 0 });
  expect(time.now).toBeGreaterThan(45_000);
}, 60_000);

test('waits for a push service that throttles, also for longer than until the next pause', async () => {
  const { running, add, time } = start(
    (_, now) => (now < 90_000 ? throttles : accepts(50)),
    longTimes,
  );
  add(recipientsAt(fcm, 100));
  expect(await time.until(countsOf(running))).toMatchObject({ delivered: 100 });
  expect(time.now).toBeLessThan(130_000);
});

test('removes who is gone after such a wait', async () => {
  const { running, add, time } = start(
    (_, now) => (now < 90_000 ? throttles : { status: 410 }),
    longTimes,
  );
  add(recipientsAt(fcm, 20));
  expect(await time.until(countsOf(running))).toMatchObject({ removed: 20, failed: 0 });
});

test('starts no push after it was stopped', async () => {
  const { running, add, time, pushes } = start(() => accepts(1000));
  add(recipientsAt(fcm, 500));
  time.at(1500, () => running.stop());
  const { attempted, unreached } = await time.until(countsOf(running));
  expect(Math.max(...pushes.map(({ at }) => at))).toBeLessThan(1501);
  expect(attempted).toBe(pushes.length);
  expect(attempted + unreached).toBe(500);
  expect(running.hasRoom).toBe(false);
});

test('does not wait for the pauses before retries after it was stopped', async () => {
  const { running, add, time, pushes } = start(() => throttles, {
    ...{ lastPushAt: 300_000, pausesAt: 300_000, endAt: 310_000, lastAttemptAt: 300_000 },
  });
  add(recipientsAt(fcm, 20));
  time.at(1500, () => running.stop());
  expect(await time.until(countsOf(running))).toMatchObject({ failures: { throttled: 20 } });
  expect(time.now).toBe(1500);
  // Nor is any push repeated when its pause would be over.
  await time.until(time.sleep(200_000));
  expect(pushes).toHaveLength(20);
});

describe('a pusher whose times pause it', () => {
  const pausingAt = (pausesAt: number) => ({
    ...{ lastPushAt: 22_000, pausesAt, endAt: 25_000, lastAttemptAt: 22_000 },
  });

  test('starts no push until they are extended, and then reaches everyone', async () => {
    const times = pausingAt(1500);
    const { running, add, time, pushes } = start(() => accepts(1000), times);
    add(recipientsAt(fcm, 500));
    time.at(8000, () => {
      times.pausesAt = 20_000;
    });
    expect(await time.until(countsOf(running))).toMatchObject({ delivered: 500 });
    const starts = pushes.map(({ at }) => at);
    expect(starts.filter((at) => at >= 1500 && at < 8000)).toEqual([]);
    expect(starts.some((at) => at < 1500) && starts.some((at) => at >= 8000)).toBe(true);
  });

  test('repeats no push meanwhile', async () => {
    const { running, add, time, pushes } = start((_, now) => ({ status: now < 1000 ? 503 : 201 }), {
      ...pausingAt(200),
    });
    add(recipientsAt(fcm, 3));
    expect(await time.until(countsOf(running))).toMatchObject({ failures: { unavailable: 3 } });
    expect(pushes).toHaveLength(3);
  });

  test('leaves out who is still queued after the last push', async () => {
    const { running, add, time } = start(() => accepts(1000), pausingAt(1500));
    add(recipientsAt(fcm, 500));
    const { attempted, unreached } = await time.until(countsOf(running));
    expect(attempted + unreached).toBe(500);
    expect(time.now).toBeLessThan(22_200);
  });

  test('has no room for more recipients meanwhile', async () => {
    const times = pausingAt(100);
    const { running, add, time } = start(() => accepts(50), times);
    add(recipientsAt(fcm, 10));
    await time.until(time.sleep(150));
    expect(running.hasRoom).toBe(false);
    times.pausesAt = 20_000;
    expect(running.hasRoom).toBe(true);
  });

  test('keeps its pace when it continues', async () => {
    const times = pausingAt(1000);
    const { running, add, time, pushes } = start(() => accepts(50), times, {
      pushesPerSecond: 100,
    });
    add(recipientsAt(fcm, 300));
    time.at(5000, () => {
      times.pausesAt = 20_000;
    });
    expect(await time.until(countsOf(running))).toMatchObject({ delivered: 300 });
    const after = pushes.filter(({ at }) => at >= 5000);
    expect(after.filter(({ at }) => at < 6000).length).toBeLessThan(110);
  });
});

test('a push that timed out is not repeated, although nobody waits: it may have been accepted', async () => {
  const { running, add, time, pushes } = start(() => silent, longTimes, { isAwaited: false });
  add(recipientsAt(mozilla, 1));
  expect(await time.until(countsOf(running))).toMatchObject({ failures: { no_response: 1 } });
  expect(pushes).toHaveLength(1);
});
