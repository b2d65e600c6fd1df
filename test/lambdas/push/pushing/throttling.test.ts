import { noCounts } from '../../../../contract/wire/counts.ts';
import type { PushTimes } from '../../../../lambdas/push/pushing/pusher.ts';
import { countsOf, pusherOptions, vapid } from '../../../fixtures/chunk.ts';
import {
  type Conduct,
  fcm,
  mozilla,
  pushVirtually,
  recipientsAt,
  virtualPushing,
} from '../../../fixtures/virtual-pushing.ts';
import { Random } from '../../../simulation/time/random.ts';

const minute = 60_000;

/** A push service that takes so many pushes in each minute. It says when to come again, or not. */
function limited(perMinute: number, says: boolean) {
  let [window, taken] = [-1, 0];
  return (now: number): Conduct => {
    const current = Math.floor(now / minute);
    if (current !== window) [window, taken] = [current, 0];
    if (taken < perMinute) {
      taken += 1;
      return { status: 201 };
    }
    const seconds = Math.ceil((minute * (current + 1) - now) / 1000);
    return { status: 429, ...(says && { headers: { 'retry-after': String(seconds) } }) };
  };
}

/** Pushes as an asynchronous slice does in one invocation. */
function deliver(
  numbers: { readonly throttled: number; readonly quick: number },
  conduct: (now: number) => Conduct,
  lastPushAt = 14.5 * minute,
) {
  const { startPushing, time, pushes } = virtualPushing(({ origin }, { now }) =>
    origin === fcm ? conduct(now) : { status: 201 },
  );
  const times: PushTimes = {
    ...{ lastPushAt, pausesAt: lastPushAt, endAt: lastPushAt + 10_000 },
    lastAttemptAt: 44 * minute,
  };
  const pusher = startPushing({ ...pusherOptions, times, isAwaited: false });
  const recipients = [
    ...recipientsAt(mozilla, numbers.quick),
    ...recipientsAt(fcm, numbers.throttled),
  ];
  pusher.add(recipients, { current: { number: 0, ...vapid } }, 0);
  return { done: time.until(countsOf(pusher)), time, pushes };
}

describe.each([true, false])('a push service that throttles, with Retry-After: %s', (says) => {
  test('is slower, and nobody is lost; the quick one beside it is not slower', async () => {
    const { done, time, pushes } = deliver({ throttled: 2500, quick: 500 }, limited(1000, says));
    expect(await done).toEqual({ ...noCounts, attempted: 3000, delivered: 3000 });
    expect(time.now).toBeLessThan(200_000);
    const quick = pushes.filter(({ origin }) => origin === mozilla).map(({ at }) => at);
    expect(Math.max(...quick)).toBeLessThan(1000);
  });

  test('is asked by one push at a time while it refuses, and no more often than it allows', async () => {
    const { done, pushes } = deliver({ throttled: 2500, quick: 0 }, limited(1000, says));
    await done;
    const starts = pushes.map(({ at }) => at);
    for (let window = 0; window < 2; window += 1) {
      // Everything that was in flight when it began to refuse has its response.
      const asked = starts.filter(
        (at) => at > minute * window + 10_000 && at < minute * (window + 1),
      );
      expect(asked.length).toBeLessThanOrEqual(says ? 0 : 3);
    }
  });
});

test('what is refused when the time is over is throttled, and the others were not taken', async () => {
  const { done, pushes } = deliver({ throttled: 3000, quick: 0 }, limited(1000, false), 100_000);
  const { delivered, failures, unreached } = await done;
  expect(delivered).toBe(2000);
  expect(failures.throttled! + unreached).toBe(1000);
  // At most those that were in flight each of the two times that it began to refuse, and those that asked.
  expect(failures.throttled).toBeLessThanOrEqual(2 * 360 + 20);
  expect(new Set(pushes.map(({ path }) => path)).size).toBe(3000 - unreached);
});

test.each([429, 406])(
  '100 responses of %i in a row pause a push service: then one push asks',
  async (status) => {
    const starts = new Map<number, number>();
    const { done, pushes } = pushVirtually(
      { recipients: recipientsAt(fcm, 500), lastPushAt: 130_000, endAt: 140_000 },
      () => ({ status }),
    );
    await done;
    for (const { at } of pushes) starts.set(at, (starts.get(at) ?? 0) + 1);
    // The pauses are doubled up to a minute. A push takes 50 ms.
    expect([...starts]).toEqual([
      [0, 32],
      ...Array.from({ length: 68 }, (_, index) => [50 * (index + 1), 1]),
      ...[4450, 6500, 10_550, 18_600, 34_650, 66_700, 126_750].map((at) => [at, 1]),
    ]);
  },
);

test('a subscription that is refused beside others waits alone', async () => {
  const [refused, ...others] = recipientsAt(fcm, 2000);
  let refusals = 0;
  const { done, pushes } = pushVirtually({ recipients: [refused!, ...others] }, ({ path }) =>
    path === refused!.path && ++refusals <= 4 ? { status: 429 } : { status: 201 },
  );
  expect(await done).toMatchObject({ delivered: 2000 });
  const at = (path: string) => pushes.filter((push) => push.path === path).map((push) => push.at);
  expect(at(refused!.path)).toEqual([0, 550, 1600, 3650, 7700]);
  expect(Math.max(...others.flatMap(({ path }) => at(path)))).toBeLessThan(1500);
});

test.each<Record<string, string>>([{}, { 'retry-after': '3600' }])(
  'nine of ten that are refused delay the others by seconds, with %j',
  async (headers) => {
    const random = new Random(1);
    const recipients = recipientsAt(fcm, 5000);
    const refused = new Set(recipients.map(({ path }) => path).filter(() => random.chance(0.9)));
    const { done, pushes, time } = pushVirtually({ recipients }, ({ path }) =>
      refused.has(path) ? { status: 429, headers } : { status: 201 },
    );
    expect(await done).toMatchObject({ delivered: 5000 - refused.size, unreached: 0 });
    const others = pushes.filter(({ path }) => !refused.has(path)).map(({ at }) => at);
    expect(Math.max(...others)).toBeLessThan(10_000);
    expect(time.now).toBeLessThanOrEqual(20_000);
  },
);

test('any other response ends the pause', async () => {
  let responses = 0;
  const { done, time } = pushVirtually({ recipients: recipientsAt(fcm, 400) }, () => {
    responses += 1;
    // The last of the first 32 comes late.
    if (responses === 32) return { status: 201, after: 500 };
    return { status: responses < 32 ? 429 : 201 };
  });
  expect(await done).toMatchObject({ delivered: 400 });
  expect(time.now).toBeLessThan(1000);
});

test('what waits keeps no body, and has one timer', async () => {
  const { done, time } = deliver({ throttled: 12_000, quick: 0 }, (now) =>
    now < 5000
      ? { status: now % 100 < 50 ? 201 : 429, headers: { 'retry-after': '20' } }
      : { status: 201 },
  );
  let most = 0;
  for (let at = 6000; at < 19_000; at += 1000) {
    time.at(at, () => {
      most = Math.max(most, time.sleeping);
    });
  }
  expect(await done).toMatchObject({ attempted: 12_000, delivered: 12_000 });
  expect(most).toBeLessThan(5);
});

test('waiting pushes are due in steps of 50 ms: in each, the pusher looks at all that are due at once', async () => {
  const random = new Random(1);
  const seen = new Set<string>();
  const { done, pushes } = pushVirtually(
    { recipients: recipientsAt(fcm, 30) },
    ({ path }) => {
      const isFirst = !seen.has(path);
      seen.add(path);
      return { status: isFirst ? 503 : 201 };
    },
    { random: () => random.next() },
  );
  expect(await done).toMatchObject({ delivered: 30 });
  const again = pushes.slice(30).map(({ at }) => at);
  expect(again.filter((at) => at % 50 !== 0)).toEqual([]);
  expect(new Set(again).size).toBeGreaterThan(2);
});
