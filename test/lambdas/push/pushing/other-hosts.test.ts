import { noCounts } from '../../../../contract/wire/counts.ts';
import { pushServiceHealth } from '../../../../lambdas/deliver/push-service-health.ts';
import type { ServiceOutcome } from '../../../../lambdas/push/pushing/push-service.ts';
import { NoResponseError } from '../../../../lambdas/push/transport/response.ts';
import {
  type Conduct,
  fcm,
  pushVirtually,
  recipientsAt,
} from '../../../fixtures/virtual-pushing.ts';

const safari = 'https://web.push.apple.com';
const silentHost = 'https://1-courier.push.apple.com';

/** Times of a caller who waits. */
const times = { lastPushAt: 22_000, endAt: 25_000 };

const silent = ({ origin }: { readonly origin: string }): Conduct =>
  origin === safari ? { status: 201 } : {};

test('a silent host is given up after time-outs in a row: the rest of it is unreached', async () => {
  const recipients = [...recipientsAt(silentHost, 500), ...recipientsAt(safari, 1000)];
  const { done, pushes, time } = pushVirtually({ recipients, ...times }, silent);
  // At first 8 at once, and two more before the third time-out.
  expect(await done).toMatchObject({
    ...{ delivered: 1000, failures: { no_response: 10 }, unreached: 490 },
  });
  const quick = pushes.filter(({ origin }) => origin === safari).map(({ at }) => at);
  expect(Math.max(...quick)).toBeLessThan(1000);
  expect(time.now).toBe(20_000);
});

test('many silent hosts delay each other, and no push service that is known', async () => {
  const hosts = Array.from({ length: 700 }, (_, index) => `https://h${index}.push.apple.com`);
  const recipients = [
    ...hosts.flatMap((host) => recipientsAt(host, 1)),
    ...recipientsAt(safari, 1000),
  ];
  const { done, pushes } = pushVirtually({ recipients, ...times }, silent);
  expect(await done).toMatchObject({ delivered: 1000 });
  const quick = pushes.filter(({ origin }) => origin === safari).map(({ at }) => at);
  expect(Math.max(...quick)).toBeLessThan(1000);
});

test('a host that responds is not given up, nor is a push service that is known', async () => {
  let responses = 0;
  const { done } = pushVirtually(
    { recipients: recipientsAt(silentHost, 30), lastPushAt: 100_000, endAt: 110_000 },
    () => (++responses > 2 ? { status: 201 } : {}),
  );
  expect(await done).toMatchObject({ attempted: 30, unreached: 0 });
  const known = pushVirtually({ recipients: recipientsAt(fcm, 40), ...times }, () => ({}));
  expect(await known.done).toMatchObject({ failures: { no_response: 40 } });
});

describe('a host that does not exist', () => {
  const unknownHost = () => {
    const cause = Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' });
    return Promise.reject(new NoResponseError(cause.message, { cause }));
  };
  const created = async () => ({ status: 201, headers: {}, body: '' });

  /** Pushes to 10 recipients at hosts of which some exist. */
  async function pushTo(origins: Readonly<Record<string, boolean>>, extraOrigins: string[] = []) {
    const removed: string[] = [];
    const recipients = Object.keys(origins).flatMap((origin) => recipientsAt(origin, 10));
    let unknownHosts = 0;
    const { done } = pushVirtually(
      {
        recipients,
        ...times,
        onEnd: (outcomes) => {
          for (const outcome of outcomes) unknownHosts += outcome.unknownHosts;
        },
        remove: async (gone) => void removed.push(...gone.map(({ origin }) => origin)),
      },
      undefined,
      {
        extraOrigins,
        transport: async ({ origin, mayStart }) => {
          if (!origins[origin]) return unknownHost();
          mayStart();
          return created();
        },
      },
    );
    const { delivered, failures } = await done;
    return { delivered, failures, removed: [...new Set(removed)], unknownHosts };
  }

  test('is gone if another host of its domain has responded', async () => {
    expect(await pushTo({ [safari]: true, [silentHost]: false })).toEqual({
      ...{ delivered: 10, failures: {}, removed: [silentHost], unknownHosts: 0 },
    });
  });

  test.each([
    ['nobody of its domain', { [fcm]: true, [silentHost]: false }],
    ['a host of another domain', { 'https://wns2-a.notify.windows.com': true, [safari]: false }],
  ])('has no response if the resolver has found %s', async (_, origins) => {
    expect(await pushTo(origins)).toEqual({
      ...{ delivered: 10, failures: { no_response: 10 }, removed: [], unknownHosts: 10 },
    });
  });

  test('has no response if it is an extra origin', async () => {
    const [one, other] = ['https://ntfy.example.com', 'https://other.example.com'];
    expect(await pushTo({ [one]: true, [other]: false }, [one, other])).toMatchObject({
      ...{ failures: { no_response: 10 }, removed: [] },
    });
  });
});

test('what cannot be sent waits for nobody', async () => {
  const recipients = [
    ...recipientsAt(silentHost, 100),
    ...recipientsAt('https://push.example.com', 100),
  ];
  const { done, soFar, time } = pushVirtually({ recipients, ...times }, silent);
  let early: unknown;
  time.at(100, () => {
    early = soFar();
  });
  await done;
  expect(early).toEqual({
    ...noCounts,
    ...{ attempted: 100, failed: 100, failures: { unsendable: 100 } },
  });
});

test('a host that has responded exists, whatever the resolver says later', async () => {
  let pushes = 0;
  const removed: string[] = [];
  const { done } = pushVirtually(
    {
      recipients: recipientsAt(safari, 40),
      ...times,
      pushesPerSecond: 20,
      remove: async (gone) => void removed.push(...gone.map(({ origin }) => origin)),
    },
    () => (++pushes <= 30 ? { status: 201 } : { isUnknownHost: true }),
  );
  expect(await done).toMatchObject({ delivered: 30, failures: { no_response: 10 } });
  expect(removed).toEqual([]);
});

test.each([
  ['a push service with one host', fcm, []],
  ['an extra origin', 'https://ntfy.example.com', ['https://ntfy.example.com']],
])(
  '%s that the resolver does not find is down: nobody can have invented it',
  async (_, origin, extraOrigins) => {
    const outcomes: ServiceOutcome[] = [];
    const { done } = pushVirtually(
      { recipients: recipientsAt(origin, 40), ...times, onEnd: (ended) => outcomes.push(...ended) },
      () => ({ isUnknownHost: true }),
      { extraOrigins },
    );
    expect(await done).toMatchObject({ failures: { no_response: 40 } });
    expect(pushServiceHealth(() => new Date(0))(outcomes)).toMatchObject({ failing: 40 });
  },
);
