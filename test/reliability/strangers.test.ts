import type { Recipient } from '../../contract/infrastructure/slice.ts';
import type { PushRequest } from '../../lambdas/push/transport/transport.ts';
import { type Conduct, recipientsAt, virtualPushing } from '../fixtures/virtual-pushing.ts';
import { deliverySetup } from '../lambdas/deliver/delivery-setup.ts';
import { Random } from '../simulation/time/random.ts';

/** `SEEDS=6 SIZES=700,5000,9000` takes minutes. */
const seeds = Number(process.env.SEEDS ?? 1);
const sizes = (process.env.SIZES ?? '9000').split(',').map(Number);
const minute = 60_000;

const extraOrigin = 'https://ntfy.example.com';
const visited = ['https://web.push.apple.com', 'https://wns2-a.notify.windows.com', extraOrigin];
const visitorsEach = 1000;

/** What anybody can subscribe: an endpoint at a host that nobody knows, or at one that visitors use; and what becomes of pushes to it. */
const strangers: Readonly<Record<string, readonly [hosts: number | string, conduct: Conduct]>> = {
  'one silent host': [1, {}],
  'many silent hosts': [Number.POSITIVE_INFINITY, {}],
  'one host that refuses': [1, { status: 403 }],
  'many hosts that refuse': [Number.POSITIVE_INFINITY, { status: 403 }],
  'one host that throttles': [1, { status: 429, headers: { 'retry-after': '3600' } }],
  'many hosts that throttle': [
    Number.POSITIVE_INFINITY,
    { status: 429, headers: { 'retry-after': '3600' } },
  ],
  // Each byte just in time.
  'one host that drips': [1, { status: 201, after: 9900 }],
  'many hosts that drip': [Number.POSITIVE_INFINITY, { status: 201, after: 9900 }],
  'one host that does not exist': [1, { isUnknownHost: true }],
  'an extra origin that throttles them': [
    extraOrigin,
    { status: 429, headers: { 'retry-after': '3600' } },
  ],
  'an extra origin that has no room for them': [extraOrigin, { status: 507 }],
  'an extra origin that refuses them': [extraOrigin, { status: 403 }],
  'many hosts that do not exist': [Number.POSITIVE_INFINITY, { isUnknownHost: true }],
};

/** How many subscribers of each push service that visitors use are pushed to, and ms until nine tenths of them are. */
async function reached(
  seed: number,
  respondsAsync: boolean,
  number: number,
  [hosts, conduct]: readonly [number | string, Conduct],
) {
  const random = new Random(seed);
  const unique = (one: Recipient): Recipient => ({
    ...one,
    endpointHash: Buffer.from(Array.from({ length: 32 }, () => random.integer(0, 255))),
  });
  const junk = Array.from({ length: number }, (_, index) => {
    const isOne = hosts === 1;
    const host =
      typeof hosts === 'string'
        ? `${hosts}/invented`
        : `https://h${index % hosts}.${index % 2 && !isOne ? 'notify.windows' : 'push.apple'}.com`;
    return recipientsAt(host, 1)[0]!;
  });
  const audience = [...visited.flatMap((origin) => recipientsAt(origin, visitorsEach)), ...junk];
  const isVisitors = ({ origin, path }: PushRequest) =>
    visited.includes(origin) && !path.startsWith('/invented');
  const conductOf = (request: PushRequest): Conduct =>
    isVisitors(request) ? { status: 201, after: random.between(60, 120) } : conduct;
  const setup = deliverySetup({
    audience: audience.map(unique),
    overrides: {
      extraOrigins: [extraOrigin],
      startPushing: (options) => pushing.startPushing(options),
      starter: {
        // Lambda repeats an invocation twice.
        async start(slice) {
          void (async () => {
            for (let attempt = 0; attempt < 3; attempt += 1) {
              const lasts = slice.awaitedSince ? 29_000 : 15 * minute;
              const run = setup.startSlice(slice, `f${slice.slice}/${attempt}`, setup.deps, lasts);
              const isOver = await run.then(
                () => true,
                () => slice.awaitedSince !== undefined,
              );
              if (isOver) return;
              await setup.time.sleep(minute);
            }
          })();
          return true;
        },
      },
    },
  });
  const { time } = setup;
  const startsAt = time.now;
  const pushing = virtualPushing(conductOf, { extraOrigins: [extraOrigin] }, time);
  await setup.send({ respondAsync: respondsAsync });
  if (respondsAsync) await time.until(time.sleep(50 * minute));
  const perOrigin = visited.map((origin) =>
    pushing.pushes.filter((one) => one.origin === origin && isVisitors(one)),
  );
  const times = perOrigin.flat().map(({ at }) => at - startsAt);
  times.sort((one, other) => one - other);
  return {
    reached: perOrigin.map(({ length }) => length),
    ms: times[Math.floor(0.9 * times.length)],
  };
}

const cases = Object.entries(strangers).flatMap(([what, conduct]) =>
  sizes.flatMap((number) =>
    ['waits', 'does not wait'].map((mode) => [number, what, mode, conduct] as const),
  ),
);

/** Without strangers, by seed and mode. */
const alone = new Map<string, ReturnType<typeof reached>>();

describe('thousands of invented subscriptions delay no push service that visitors use', () => {
  test.each(cases)(
    '%i subscriptions at %s, in a send that %s',
    async (number, _, mode, conduct) => {
      for (let seed = 1; seed <= seeds; seed += 1) {
        const isAsync = mode !== 'waits';
        const key = `${seed} ${mode}`;
        alone.set(key, alone.get(key) ?? reached(seed, isAsync, 0, conduct));
        const without = await alone.get(key)!;
        const withThem = await reached(seed, isAsync, number, conduct);
        if (process.env.FIGURES) console.log(JSON.stringify({ seed, without, withThem }));
        for (const [at, count] of withThem.reached.entries()) {
          expect(count).toBeGreaterThan(0.95 * without.reached[at]!);
          expect(count).toBeLessThanOrEqual(visitorsEach);
        }
      }
    },
    seeds * 10 * minute,
  );
});
