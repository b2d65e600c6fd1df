import { createBrowserKeys, decrypt } from '../../../../admin/browser.ts';
import type { Recipient } from '../../../../contract/infrastructure/slice.ts';
import { noCounts } from '../../../../contract/wire/counts.ts';
import { NoResponseError, UnsendableError } from '../../../../lambdas/push/transport/response.ts';
import {
  fcm,
  goneAt,
  mozilla,
  pushVirtually,
  recipientsAt,
} from '../../../fixtures/virtual-pushing.ts';
import type { Scheduler } from '../../../simulation/time/scheduler.ts';

test('an empty chunk is done at once', async () => {
  const { done, time } = pushVirtually({});
  expect(await done).toEqual(noCounts);
  expect(time.now).toBe(0);
});

test('recipients take turns with the messages', async () => {
  const browserKeys = createBrowserKeys();
  const keys = { p256dh: browserKeys.publicKey, auth: browserKeys.authSecret };
  const recipients = recipientsAt(fcm, 5).map((one) => ({ ...one, ...keys }));
  const messages = ['a', 'b', 'c'].map((text) => Buffer.from(text));
  const { done, pushes } = pushVirtually({ recipients, messages });
  await done;
  const received = pushes.map(({ body }) => decrypt(body, browserKeys).toString());
  expect(received).toEqual(['a', 'b', 'c', 'a', 'b']);
});

test('nothing is sent to an origin that is no longer accepted, nor with invalid keys', async () => {
  const [valid, short] = recipientsAt(fcm, 2);
  const recipients = [
    ...[valid!, { ...short!, p256dh: new Uint8Array(3) }],
    ...recipientsAt('https://push.example.com', 2),
    ...recipientsAt('https://fcm.googleapis.com@127.0.0.1', 1),
  ];
  const { done, pushes } = pushVirtually({ recipients });
  expect(await done).toEqual({
    ...noCounts,
    ...{ attempted: 5, delivered: 1, failed: 4 },
    failures: { unsendable: 4 },
  });
  expect(pushes.map(({ path }) => path)).toEqual([valid!.path]);
});

test('tells what is settled so far', async () => {
  const recipients = [...recipientsAt(fcm, 10), ...recipientsAt(mozilla, 3)];
  const { done, soFar, time } = pushVirtually({ recipients }, ({ origin }) =>
    origin === mozilla ? { status: 410, after: 3000 } : { status: 201, after: 100 },
  );
  let early: unknown;
  time.at(1000, () => {
    early = soFar();
  });
  await done;
  expect(early).toEqual({ ...noCounts, attempted: 10, delivered: 10 });
  expect(soFar()).toEqual({
    ...noCounts,
    attempted: 13,
    delivered: 10,
    removed: 3,
    removals: { mozilla: 3 },
  });
});

describe('a transient failure', () => {
  test('is delivered if a later attempt succeeds, encrypted again: nothing is kept while it waits', async () => {
    let attempts = 0;
    const { done, pushes } = pushVirtually({ recipients: recipientsAt(fcm, 1) }, () => ({
      status: ++attempts < 3 ? 503 : 201,
    }));
    expect(await done).toEqual({ ...noCounts, attempted: 1, delivered: 1 });
    const [first] = pushes;
    expect(pushes).toHaveLength(3);
    expect(pushes[1]!.body).not.toEqual(first!.body);
  });

  test('is attempted again when Retry-After says, unless that is after the last push', async () => {
    const [soon, late] = recipientsAt(fcm, 2);
    const { done, pushes, time } = pushVirtually({ recipients: [soon!, late!] }, ({ path }) => ({
      status: 429,
      headers: { 'retry-after': path === soon!.path ? '7' : '20' },
    }));
    expect(await done).toMatchObject({ failed: 2, failures: { throttled: 2 } });
    // Nobody waits for an attempt that would be too late.
    expect(time.now).toBeLessThan(15_000);
    expect(pushes.map(({ path, at }) => [path, at])).toEqual([
      [soon!.path, 0],
      [late!.path, 0],
      [soon!.path, 7050],
      [soon!.path, 14_100],
    ]);
  });
});

describe('pushes in flight', () => {
  async function mostInFlight(origins: readonly string[], all = 1500): Promise<number> {
    const recipients = origins.flatMap((origin) => recipientsAt(origin, all));
    const { done, pushes } = pushVirtually({ recipients }, () => ({ status: 201, after: 50 }));
    expect(await done).toMatchObject({ delivered: origins.length * all });
    const times = pushes.map(({ at }) => at);
    let first = 0;
    const inFlight = times.map((now, index) => {
      while (times[first]! <= now - 50) first += 1;
      return index + 1 - first;
    });
    return Math.max(...inFlight);
  }

  test.each<[string, number, readonly string[], number?]>([
    ['one push service', 360, [fcm]],
    [
      'one push service with two hosts',
      360,
      ['https://wns2-a.notify.windows.com', 'https://wns2-b.notify.windows.com'],
    ],
    ['three push services', 480, [fcm, mozilla, 'https://web.push.apple.com']],
    [
      'hosts that are not known',
      8,
      ['https://a.push.apple.com', 'https://b.push.apple.com', 'https://c.notify.windows.com'],
      100,
    ],
  ])('to %s are at most %i', async (_, most, origins, each = 1500) => {
    expect(await mostInFlight(origins, each)).toBe(most);
  });
});

test('a push service that never responds does not hold up the others', async () => {
  const recipients = [...recipientsAt(mozilla, 1200), ...recipientsAt(fcm, 1200)];
  const { done, pushes, time } = pushVirtually({ recipients }, ({ origin }) =>
    origin === fcm ? { status: 201 } : {},
  );
  let early = 0;
  time.at(2000, () => {
    early = pushes.filter(({ origin }) => origin === fcm).length;
  });
  expect(await done).toMatchObject({ delivered: 1200 });
  expect(early).toBe(1200);
});

const timeout = new NoResponseError('No response in time.', { isTimeout: true });

test.each([
  ['unsendable is not repeated', new UnsendableError('A private address.'), 'unsendable', 1, 0],
  ['without a response is repeated', new NoResponseError('Reset.'), 'no_response', 3, 0],
  ['that timed out is not repeated, as a caller waits', timeout, 'no_response', 1, 0],
  ['with another error is reported as a fault', new TypeError('x'), 'internal_error', 1, 1],
])('a push that is %s', async (_, error, reason, attempts, reported) => {
  const faults: unknown[] = [];
  let attempted = 0;
  const { done } = pushVirtually({ recipients: recipientsAt(fcm, 1) }, undefined, {
    transport: () => {
      attempted += 1;
      return Promise.reject(error);
    },
    onFault: (fault) => faults.push(fault),
  });
  expect(await done).toEqual({
    ...noCounts,
    ...{ attempted: 1, failed: 1, failures: { [reason]: 1 } },
  });
  expect(attempted).toBe(attempts);
  expect(faults).toEqual(Array(reported).fill(error));
});

test('a key pair with which nothing can be signed is a fault, of which the log tells', async () => {
  const faults: unknown[] = [];
  const error = new Error('Invalid key.');
  const { done, pushes } = pushVirtually({ recipients: recipientsAt(fcm, 2) }, undefined, {
    sign: () => {
      throw error;
    },
    onFault: (fault) => faults.push(fault),
  });
  expect(await done).toMatchObject({ attempted: 2, failures: { internal_error: 2 } });
  expect(pushes).toEqual([]);
  expect(faults).toContain(error);
});

const gone = () => ({ status: 410 });

test('recipients that are gone are removed in batches, each once', async () => {
  const batches: (readonly Recipient[])[] = [];
  const { done } = pushVirtually(
    { recipients: goneAt(fcm, 130), remove: async (batch) => void batches.push(batch) },
    ({ path }) => ({ status: Number(path.split('/').at(-1)) < 120 ? 410 : 201 }),
  );
  expect(await done).toEqual({
    ...noCounts,
    attempted: 130,
    delivered: 10,
    removed: 120,
    removals: { fcm: 120 },
  });
  expect(batches.map(({ length }) => length)).toEqual([50, 50, 20]);
  expect(new Set(batches.flat()).size).toBe(120);
});

test('at most eight batches are written at once', async () => {
  let [running, most] = [0, 0];
  const { done, time } = pushVirtually(
    {
      recipients: goneAt(fcm, 1000),
      remove: async () => {
        running += 1;
        most = Math.max(most, running);
        await time.sleep(100);
        running -= 1;
      },
    },
    gone,
  );
  expect(await done).toEqual({
    ...noCounts,
    attempted: 1000,
    removed: 1000,
    removals: { fcm: 1000 },
  });
  expect({ most, running }).toEqual({ most: 8, running: 0 });
});

test('a batch that cannot be removed has failed, and the next one is tried', async () => {
  let batches = 0;
  const { done } = pushVirtually(
    {
      recipients: goneAt(fcm, 100),
      remove: async () => {
        batches += 1;
        if (batches === 1) throw new Error('throttled');
      },
    },
    gone,
  );
  expect(await done).toEqual({
    ...noCounts,
    ...{ attempted: 100, removed: 50, failed: 50, failures: { not_removed: 50 } },
    removals: { fcm: 50 },
  });
});

test('recipients that are gone are removed although another push has no response', async () => {
  let removedAt: number | undefined;
  const { done, time } = pushVirtually(
    {
      recipients: recipientsAt(fcm, 4),
      remove: async () => {
        removedAt = time.now;
      },
    },
    ({ path }) => (path === '/push/0' ? {} : gone()),
  );
  expect(await done).toMatchObject({ removed: 3, failures: { no_response: 1 } });
  expect(removedAt).toBeLessThan(2000);
});

// A text for a user must not reach the browser's next user: RFC 8030 knows nothing of users.

/** Pushes that are throttled once, so that each one is repeated. Records when it was asked for whom. */
function throttledOnce(
  answer: (recipient: Recipient, time: Scheduler) => Promise<boolean>,
  retryAfter: string,
  recipients = recipientsAt(fcm, 3),
) {
  const asked: { readonly path: string; readonly at: number }[] = [];
  const attempts = new Map<string, number>();
  const { done, pushes, time } = pushVirtually(
    {
      recipients,
      isStillWanted: (one) => {
        asked.push({ path: one.path, at: time.now });
        return answer(one, time);
      },
    },
    ({ path }) => {
      const number = (attempts.get(path) ?? 0) + 1;
      attempts.set(path, number);
      if (number > 1) return { status: 201 };
      return { status: 429, headers: { 'retry-after': retryAfter } };
    },
  );
  return { done, pushes, asked };
}

test('nobody is asked about a push that starts within a second after its recipient was read', async () => {
  const { done, asked } = throttledOnce(async () => false, '0');
  expect(await done).toMatchObject({ delivered: 3 });
  expect(asked).toEqual([]);
});

test('a later push is sent only to who is still wanted, and counts as throttled otherwise', async () => {
  const { done, pushes, asked } = throttledOnce(async ({ path }) => path !== '/push/1', '5');
  expect(await done).toEqual({
    ...noCounts,
    ...{ attempted: 3, delivered: 2, failed: 1, failures: { throttled: 1 } },
  });
  expect(asked.map(({ at }) => at)).toEqual([5050, 5050, 5050]);
  expect(pushes.filter(({ at }) => at > 5000).map(({ path }) => path)).toEqual([
    ...['/push/0', '/push/2'],
  ]);
});

test('a recipient who was never pushed to and is no longer wanted is unreached', async () => {
  const { done, pushes } = pushVirtually(
    // One push a second.
    { recipients: recipientsAt(fcm, 4), pushesPerSecond: 1, isStillWanted: async () => false },
  );
  const { delivered, unreached } = await done;
  expect(delivered).toBe(pushes.length);
  expect(pushes.every(({ at }) => at <= 1000)).toBe(true);
  expect(delivered + unreached).toBe(4);
});

test('a push waits while nobody knows whether it is wanted', async () => {
  let fails = true;
  const { done, pushes, asked } = throttledOnce(
    async () => {
      if (!fails) return true;
      fails = false;
      throw new Error('The database is away.');
    },
    '5',
    recipientsAt(fcm, 1),
  );
  expect(await done).toMatchObject({ delivered: 1 });
  expect(asked.map(({ at }) => at)).toEqual([5050, 5550]);
  expect(pushes.map(({ at }) => at)).toEqual([0, 5550]);
});

test('an answer that took too long is asked for again', async () => {
  let answers = 0;
  const { done, asked } = throttledOnce(
    async (_, time) => {
      answers += 1;
      if (answers === 1) await time.sleep(1500);
      return true;
    },
    '5',
    recipientsAt(fcm, 1),
  );
  expect(await done).toMatchObject({ delivered: 1 });
  expect(asked.map(({ at }) => at)).toEqual([5050, 6550]);
});
