import { newVapidPair } from '../../../../admin/vapid-pair.ts';
import type { Recipient } from '../../../../contract/infrastructure/slice.ts';
import { noCounts } from '../../../../contract/wire/counts.ts';
import type { VapidPair } from '../../../../contract/wire/project.ts';
import type { Chunk } from '../../../fixtures/chunk.ts';
import {
  type Conduct,
  fcm,
  mozilla,
  pushVirtually,
  recipientsAt,
} from '../../../fixtures/virtual-pushing.ts';

const current: VapidPair = { number: 3, ...newVapidPair() };
const previous: VapidPair = { number: 2, ...newVapidPair() };
const pairs = { current, previous };

/** Records the corrections of a chunk. */
function recordCorrections() {
  const corrections: [path: string, vapidPairNumber: number][] = [];
  const correctPair: Chunk['correctPair'] = async ({ path }, vapidPairNumber) => {
    corrections.push([path, vapidPairNumber]);
  };
  return { corrections, correctPair };
}

/** A push service that refuses these keys. */
function refusing(...refused: readonly VapidPair[]) {
  const attempts: string[] = [];
  const settings = { sign: ({ publicKey }: { readonly publicKey: string }) => publicKey };
  const conduct = ({ headers }: { headers: { Authorization?: string } }): Conduct => {
    attempts.push(headers.Authorization!);
    const isRefused = refused.some(({ publicKey }) => publicKey === headers.Authorization);
    return isRefused ? { status: 401, body: 'VAPID public key mismatch' } : { status: 201 };
  };
  return { attempts, settings, conduct };
}

const withPair = (recipients: readonly Recipient[], vapidPairNumber: number) =>
  recipients.map((one) => ({ ...one, vapidPairNumber }));

test.each([
  [
    'a push is signed with the pair of its subscription, of which the first is not stored',
    undefined,
    0,
    [],
  ],
  ['a stored pair that is too new is corrected after the other one succeeds', 1, 0, [0]],
  ['a stored pair that is too old is corrected after the other one succeeds', undefined, 1, [1]],
])('%s', async (_, stored, made, corrected) => {
  const vapid = { current: { ...current, number: 1 }, previous: { ...previous, number: 0 } };
  const { settings, conduct } = refusing(made === 1 ? previous : current);
  const { corrections, correctPair } = recordCorrections();
  const [recipient] = recipientsAt(fcm, 1);
  const recipients = [{ ...recipient!, ...(stored !== undefined && { vapidPairNumber: stored }) }];
  const { done } = pushVirtually({ recipients, vapid, correctPair }, conduct, settings);
  expect(await done).toEqual({ ...noCounts, attempted: 1, delivered: 1 });
  expect(corrections).toEqual(corrected.map((number) => [recipient!.path, number]));
});

test('both pairs are tried once each, and encrypted once', async () => {
  const { attempts, settings, conduct } = refusing(current, previous);
  const recipients = withPair(recipientsAt(fcm, 1), 3);
  const { done, pushes } = pushVirtually({ recipients, vapid: pairs }, conduct, settings);
  expect(await done).toMatchObject({ attempted: 1, failures: { key_mismatch: 1 } });
  expect(attempts).toEqual([current.publicKey, previous.publicKey]);
  expect(pushes[0]!.body).toBe(pushes[1]!.body);
});

test('without a previous pair a mismatch fails at once', async () => {
  const { attempts, settings, conduct } = refusing(current);
  const vapid = { current };
  const { done } = pushVirtually({ recipients: recipientsAt(fcm, 1), vapid }, conduct, settings);
  expect(await done).toMatchObject({ attempted: 1, failures: { key_mismatch: 1 } });
  expect(attempts).toEqual([current.publicKey]);
});

test('a mismatch in the last attempt is the end of the attempts with transient failures', async () => {
  let attempts = 0;
  const { settings } = refusing();
  const { done } = pushVirtually(
    { recipients: withPair(recipientsAt(fcm, 1), 3), vapid: pairs },
    () => {
      attempts += 1;
      return attempts === 3 ? { status: 401, body: 'public key mismatch' } : { status: 503 };
    },
    settings,
  );
  expect(await done).toMatchObject({ attempted: 1, failures: { unavailable: 1 } });
  expect(attempts).toBe(4);
});

test('a push that could not be repeated in time fails with key_mismatch', async () => {
  const { settings } = refusing();
  const { done, pushes } = pushVirtually(
    { recipients: withPair(recipientsAt(fcm, 1), 3), vapid: pairs, lastPushAt: 10 },
    () => ({ status: 401, body: 'public key mismatch', after: 50 }),
    settings,
  );
  expect(await done).toEqual({
    ...noCounts,
    ...{ attempted: 1, failed: 1, failures: { key_mismatch: 1 } },
  });
  expect(pushes).toHaveLength(1);
});

test('a token is signed once for each origin and pair', async () => {
  const signed: string[] = [];
  const recipients = [fcm, mozilla].flatMap((origin) =>
    recipientsAt(origin, 100).map((one, index) => ({ ...one, vapidPairNumber: 2 + (index % 2) })),
  );
  const { done } = pushVirtually({ recipients, vapid: pairs }, undefined, {
    sign: ({ publicKey }, origin) => {
      signed.push(`${publicKey} ${origin}`);
      return publicKey;
    },
  });
  expect(await done).toMatchObject({ delivered: 200 });
  expect(signed).toHaveLength(4);
  expect(new Set(signed).size).toBe(4);
});

describe('corrections', () => {
  const recipients = withPair(recipientsAt(fcm, 100), 3);

  test('run while pushes continue, eight at once', async () => {
    const { settings, conduct } = refusing(current);
    let [running, most, corrected] = [0, 0, 0];
    const { done, time } = pushVirtually(
      {
        ...{ recipients, vapid: pairs },
        correctPair: async () => {
          running += 1;
          most = Math.max(most, running);
          await time.sleep(20);
          running -= 1;
          corrected += 1;
        },
      },
      conduct,
      settings,
    );
    expect(await done).toMatchObject({ attempted: 100, delivered: 100 });
    expect({ most, corrected, running }).toEqual({ most: 8, corrected: 100, running: 0 });
  });

  test('that fail do not change the counts, and no more are tried', async () => {
    const { settings, conduct } = refusing(current);
    let tried = 0;
    const correctPair = async () => {
      tried += 1;
      await time.sleep(20);
      throw new Error('throttled');
    };
    const { done, time } = pushVirtually(
      { recipients, vapid: pairs, correctPair },
      conduct,
      settings,
    );
    expect(await done).toEqual({ ...noCounts, attempted: 100, delivered: 100 });
    expect(tried).toBe(8);
  });

  test('that take too long end with the pusher', async () => {
    const { settings, conduct } = refusing(current);
    const { done, time } = pushVirtually(
      { recipients, vapid: pairs, correctPair: () => new Promise(() => {}) },
      conduct,
      settings,
    );
    expect(await done).toEqual({ ...noCounts, attempted: 100, delivered: 100 });
    expect(time.now).toBe(25_000);
  });

  test('that end after the pusher are not followed by others', async () => {
    const { settings, conduct } = refusing(current);
    let tried = 0;
    const { done, time } = pushVirtually(
      {
        ...{ recipients, vapid: pairs },
        correctPair: async () => {
          tried += 1;
          await time.sleep(30_000);
        },
      },
      conduct,
      settings,
    );
    await done;
    await time.until(time.sleep(60_000));
    expect(tried).toBe(8);
  });
});
