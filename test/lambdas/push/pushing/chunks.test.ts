import { newVapidPair } from '../../../../admin/vapid-pair.ts';
import { noCounts } from '../../../../contract/counts.ts';
import { inFlight } from '../../../../lambdas/push/pushing/limiter.ts';
import type { PushTimes } from '../../../../lambdas/push/pushing/pusher.ts';
import { startPushingWith } from '../../../../lambdas/push/pushing/running-pusher.ts';
import { NoResponseError } from '../../../../lambdas/push/transport/errors.ts';
import { fcm, mozilla, recipientsAt } from '../../../fixtures/virtual-pushing.ts';
import { Scheduler } from '../../../simulation/time/scheduler.ts';

const vapid = { current: { number: 0, ...newVapidPair() } };

/**
 * Pushes in virtual time. A push is accepted after these ms, never if undefined, throttled for a minute,
 * fails, or its subscription is gone.
 */
function start(
  responseMs: (origin: string) => number | 'throttled' | 'failing' | 'gone' | undefined,
  times: PushTimes = {
    ...{ lastPushAt: 22_000, pausesAt: 22_000, lastRetryAt: 22_000, endAt: 25_000 },
  },
  pushesPerSecond = Number.POSITIVE_INFINITY,
) {
  const time = new Scheduler();
  const pushes: { readonly origin: string; readonly at: number }[] = [];
  const startPushing = startPushingWith({
    transport: ({ origin, timeoutMs }) => {
      pushes.push({ origin, at: time.now });
      const ms = responseMs(origin);
      return new Promise((resolve, reject) => {
        const silent = new NoResponseError('No response.', { isTimeout: true });
        if (ms === undefined) time.after(timeoutMs, () => reject(silent));
        else if (ms === 'throttled') {
          resolve({ status: 429, headers: { 'retry-after': '60' }, body: '' });
        } else if (ms === 'failing') resolve({ status: 503, headers: {}, body: '' });
        else if (ms === 'gone') resolve({ status: 410, headers: {}, body: '' });
        else {
          time.after(ms, () => resolve({ status: 201, headers: {}, body: '' }));
        }
      });
    },
    sign: () => 'vapid t=x',
    clock: time.clock,
    sleep: time.sleep,
    random: () => 0,
    extraOrigins: [],
    inFlight,
  });
  const options = {
    messages: [Buffer.from('{"title":"Hello"}')],
    options: { ttl: 60 },
    times,
    isAwaited: true,
    pushesPerSecond,
    removalGroup: () => 0,
    remove: async () => {},
    correctPair: async () => {},
  };
  return { running: startPushing(options), time, pushes };
}

/** Times that are extended every two seconds, as those of an asynchronous share. */
function extendedTimes() {
  return { lastPushAt: 45_000, pausesAt: 45_000, lastRetryAt: 800_000, endAt: 50_000 };
}

function extend(times: ReturnType<typeof extendedTimes>, time: Scheduler): void {
  for (let second = 2; second < 200; second += 2) {
    time.at(second * 1000, () => {
      times.lastPushAt = time.now + 45_000;
      times.pausesAt = times.lastPushAt;
      times.endAt = time.now + 50_000;
    });
  }
}

test('wants more recipients when all it has are pushed to', async () => {
  const { running, time } = start(() => 50);
  running.add(recipientsAt(fcm, 500), vapid);
  expect(await time.until(running.wantsMore())).toBe(true);
  expect(running.soFar().attempted).toBeGreaterThan(100);
  running.add(recipientsAt(fcm, 500), vapid);
  expect(await time.until(running.end())).toEqual({
    ...noCounts,
    ...{ attempted: 1000, delivered: 1000 },
  });
});

test('wants more recipients while a push service that is silent holds up its own', async () => {
  const { running, time } = start((origin) => (origin === mozilla ? undefined : 50));
  running.add([...recipientsAt(mozilla, 100), ...recipientsAt(fcm, 950)], vapid);
  expect(await time.until(running.wantsMore())).toBe(true);
  expect(time.now).toBeLessThan(5000);
  running.add(recipientsAt(fcm, 950), vapid);
  expect(await time.until(running.end())).toMatchObject({ delivered: 1900 });
});

test('wants more recipients while a push service that always responds late holds up its own', async () => {
  // At different times, so that it is never silent.
  let responses = 0;
  const late = () => 1200 + ((responses++ * 37) % 800);
  const { running, time } = start((origin) => (origin === mozilla ? late() : 50));
  running.add(recipientsAt(mozilla, 2000), vapid);
  // First before any response, when it is silent, and then between its responses.
  for (let times = 0; times < 2; times += 1) {
    expect(await time.until(running.wantsMore())).toBe(true);
    running.add(recipientsAt(fcm, 100), vapid);
    await time.until(time.sleep(1500));
  }
  expect(time.now).toBeLessThan(5000);
  await time.until(running.end());
});

test('wants no more than fit in memory', async () => {
  const { running, time } = start(() => undefined);
  running.add(recipientsAt(mozilla, 1000), vapid);
  const wanted = running.wantsMore();
  expect(await time.until(wanted)).toBe(true);
  // Adds none of them to a queue twice: only their number matters.
  for (let chunk = 0; chunk < 200; chunk += 1) running.add(recipientsAt(mozilla, 1000), vapid);
  expect(await time.until(running.wantsMore())).toBe(false);
  await time.until(running.end());
}, 60_000);

test('reaches everyone of a slow push service for as long as its times are extended', async () => {
  const times = extendedTimes();
  const { running, time } = start(() => 4000, times);
  extend(times, time);
  running.add(recipientsAt(fcm, 4000), vapid);
  expect(await time.until(running.end())).toMatchObject({ delivered: 4000, unreached: 0 });
  expect(time.now).toBeGreaterThan(45_000);
}, 60_000);

test('waits for a push service that throttles for longer than its times reach now', async () => {
  const times = extendedTimes();
  const { running, time } = start(() => (time.now < 90_000 ? 'throttled' : 50), times);
  extend(times, time);
  running.add(recipientsAt(fcm, 100), vapid);
  expect(await time.until(running.end())).toMatchObject({ delivered: 100 });
  expect(time.now).toBeLessThan(130_000);
});

test('removes who is gone for as long as its times are extended', async () => {
  const times = extendedTimes();
  const { running, time } = start(() => (time.now < 90_000 ? 'throttled' : 'gone'), times);
  extend(times, time);
  running.add(recipientsAt(fcm, 20), vapid);
  expect(await time.until(running.end())).toMatchObject({ removed: 20, failed: 0 });
});

test('starts no push after it was stopped', async () => {
  const { running, time, pushes } = start(() => 1000);
  running.add(recipientsAt(fcm, 500), vapid);
  time.at(1500, () => running.stop());
  const { attempted, unreached } = await time.until(running.end());
  expect(Math.max(...pushes.map(({ at }) => at))).toBeLessThan(1501);
  expect(attempted).toBe(pushes.length);
  expect(attempted + unreached).toBe(500);
  expect(await running.wantsMore()).toBe(false);
});

test('does not wait for the pauses before retries after it was stopped', async () => {
  const { running, time } = start(() => 'throttled', {
    ...{ lastPushAt: 300_000, pausesAt: 300_000, lastRetryAt: 300_000, endAt: 310_000 },
  });
  running.add(recipientsAt(fcm, 20), vapid);
  time.at(1500, () => running.stop());
  expect(await time.until(running.end())).toMatchObject({ failures: { throttled: 20 } });
  expect(time.now).toBe(1500);
});

describe('a pusher whose times pause it', () => {
  const pausingAt = (pausesAt: number) => ({
    ...{ lastPushAt: 22_000, pausesAt, lastRetryAt: 22_000, endAt: 25_000 },
  });

  test('starts no push until they are extended, and then reaches everyone', async () => {
    const times = pausingAt(1500);
    const { running, time, pushes } = start(() => 1000, times);
    running.add(recipientsAt(fcm, 500), vapid);
    time.at(8000, () => {
      times.pausesAt = 20_000;
    });
    expect(await time.until(running.end())).toMatchObject({ delivered: 500 });
    const starts = pushes.map(({ at }) => at);
    expect(starts.filter((at) => at >= 1500 && at < 8000)).toEqual([]);
    expect(starts.some((at) => at < 1500) && starts.some((at) => at >= 8000)).toBe(true);
  });

  test('repeats no push meanwhile', async () => {
    const { running, time, pushes } = start(() => (time.now < 1000 ? 'failing' : 50), {
      ...pausingAt(200),
    });
    running.add(recipientsAt(fcm, 3), vapid);
    expect(await time.until(running.end())).toMatchObject({ failures: { unavailable: 3 } });
    expect(pushes).toHaveLength(3);
  });

  test('leaves out who is still queued after the last push', async () => {
    const { running, time } = start(() => 1000, pausingAt(1500));
    running.add(recipientsAt(fcm, 500), vapid);
    const { attempted, unreached } = await time.until(running.end());
    expect(attempted + unreached).toBe(500);
    expect(time.now).toBeLessThan(22_200);
  });

  test('wants no more recipients meanwhile', async () => {
    const times = pausingAt(100);
    const { running, time } = start(() => 50, times);
    running.add(recipientsAt(fcm, 10), vapid);
    time.at(7000, () => {
      times.pausesAt = 20_000;
    });
    await time.until(time.sleep(150));
    expect(await time.until(running.wantsMore())).toBe(true);
    expect(time.now).toBeGreaterThanOrEqual(7000);
  });

  test('keeps its pace when it continues', async () => {
    const times = pausingAt(1000);
    const { running, time, pushes } = start(() => 50, times, 100);
    running.add(recipientsAt(fcm, 300), vapid);
    time.at(5000, () => {
      times.pausesAt = 20_000;
    });
    expect(await time.until(running.end())).toMatchObject({ delivered: 300 });
    const after = pushes.filter(({ at }) => at >= 5000);
    expect(after.filter(({ at }) => at < 6000).length).toBeLessThan(110);
  });
});

describe('a push that timed out', () => {
  test('is not repeated once all others have ended, if a caller waits', async () => {
    const { running, time, pushes } = start((origin) => (origin === mozilla ? undefined : 50));
    running.add([...recipientsAt(mozilla, 2), ...recipientsAt(fcm, 10)], vapid);
    expect(await time.until(running.end())).toMatchObject({
      delivered: 10,
      failures: { no_response: 2 },
    });
    expect(time.now).toBeLessThan(12_000);
    // Nor is it sent when its pause is over.
    await time.until(time.sleep(20_000));
    expect(pushes.filter(({ origin }) => origin === mozilla)).toHaveLength(2);
  });

  test('is repeated while more recipients may come', async () => {
    const { running, time, pushes } = start(() => undefined);
    running.add(recipientsAt(mozilla, 1), vapid);
    await time.until(time.sleep(15_000));
    expect(pushes).toHaveLength(2);
  });
});
