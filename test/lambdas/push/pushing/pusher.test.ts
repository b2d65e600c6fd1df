import { createBrowserKeys, decrypt } from '../../../../admin/browser.ts';
import { noCounts } from '../../../../contract/wire/counts.ts';
import { fcm, mozilla, pushVirtually, recipientsAt } from '../../../fixtures/virtual-pushing.ts';

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
  expect(soFar()).toEqual({ ...noCounts, attempted: 13, delivered: 10, removed: 3 });
});

describe('a transient failure', () => {
  test('is delivered if a later attempt succeeds, encrypted once', async () => {
    let attempts = 0;
    const { done, pushes } = pushVirtually({ recipients: recipientsAt(fcm, 1) }, () => ({
      status: ++attempts < 3 ? 503 : 201,
    }));
    expect(await done).toEqual({ ...noCounts, attempted: 1, delivered: 1 });
    const [first] = pushes;
    for (const { body } of pushes) expect(body).toBe(first!.body);
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
  const all = 1500;

  async function mostInFlight(origins: readonly string[]): Promise<number> {
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

  test.each([
    ['one push service', 360, [fcm]],
    [
      'one push service with two hosts',
      360,
      ['https://a.push.apple.com', 'https://b.push.apple.com'],
    ],
    ['three push services', 480, [fcm, mozilla, 'https://a.push.apple.com']],
  ])('to %s are at most %i', async (_, most, origins) => {
    expect(await mostInFlight(origins)).toBe(most);
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
