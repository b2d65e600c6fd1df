import { sliceSizes } from '../../../contract/infrastructure/delivery.ts';
import { sliceSchema } from '../../../contract/infrastructure/slice.ts';
import {
  type Audience,
  divide,
  eventWindowSeconds,
  paceOf,
  shownSampleOf,
  slicesOf,
} from '../../../lambdas/send/divide.ts';
import { eventSeconds, seconds } from '../../fixtures/cost-model.ts';
import { synthesize } from '../../fixtures/synthesized-stack.ts';
import { Random } from '../../simulation/time/random.ts';
import { slice } from '../deliver/delivery-setup.ts';

const { resources, functionNamed } = synthesize();

const { slice: _, firstCounter: __, counters: ___, ...broadcast } = slice();
const pace = 20_000;

function slices(audience: Audience, pushesPerSecond = pace, respondsAsync = false) {
  const division = divide(audience, pushesPerSecond, respondsAsync);
  return slicesOf(broadcast, audience, division, pushesPerSecond);
}

test.each([
  [0, 1],
  [1, 1],
  [30_000, 1],
  [30_001, 2],
  [100_000, 4],
  [300_000, 11],
  [1_000_000, 16],
  [5_000_000, 16],
])('%i subscribers make %i slices', (subscribers, count) => {
  expect(slices({ subscribers })).toHaveLength(count);
});

test.each([
  ['of more than 100,000 subscribers', { subscribers: 100_001 }, 10],
  ['of fewer', { subscribers: 100_000 }, undefined],
  ['of user ids', { userIds: ['u'] }, undefined],
])('an audience %s has the sample %s', (_, audience, expected) => {
  expect(shownSampleOf(audience, { shownSample: 10 })).toBe(expected);
  expect(shownSampleOf(audience, { shownSample: 1 })).toBeUndefined();
});

test('a slower pace makes fewer slices, and each gets an equal part of it', () => {
  expect(slices({ subscribers: 1_000_000 }, 5000)).toHaveLength(4);
  expect(slices({ subscribers: 1_000_000 }, 5000)[0]).toMatchObject({ pushesPerSecond: 1250 });
  expect(slices({ subscribers: 1_000_000 }, 10)).toHaveLength(1);
});

test('a pace that is too slow for a large audience is raised, if nobody waits', () => {
  const { longestSeconds } = sliceSizes;
  const audience = { subscribers: 200 * longestSeconds };
  expect(paceOf(audience, 100, true)).toBe(200);
  expect(paceOf(audience, 300, true)).toBe(300);
  expect(paceOf(audience, 100, false)).toBe(100);
  const userIds = Array.from({ length: 1000 }, (_, index) => `u${index}`);
  expect(paceOf({ userIds }, 0.1, true)).toBe(1000 / longestSeconds);
  expect(paceOf({ userIds }, 0.1, false)).toBe(0.1);
});

test('slices cover all positions once', () => {
  const all = slices({ subscribers: 1_000_000 });
  expect(all[0]!.from).toBe(0);
  expect(all.at(-1)!.to).toBe(2 ** 32);
  for (const [index, one] of all.slice(1).entries()) expect(one.from).toBe(all[index]!.to);
});

test('a chunk is at most 9,000 recipients, and as many as are pushed within 5 s', () => {
  const recipients = (subscribers: number, pushesPerSecond = pace) =>
    (slices({ subscribers }, pushesPerSecond)[0]!.step * subscribers) / 2 ** 32;
  expect(recipients(9000)).toBe(9000);
  expect(recipients(30_000)).toBeCloseTo(8700, 0);
  expect(recipients(1_000_000)).toBeCloseTo(6250, 0);
  expect(recipients(10_000, 100)).toBeCloseTo(500, 0);
  const userIds = Array.from({ length: 500 }, (_, index) => `u${index}`);
  expect(slices({ userIds }, 10)[0]!.step).toBe(50);
  expect(slices({ userIds }, 0.01)[0]!.step).toBe(1);
  expect(slices({ userIds })[0]!.step).toBe(500);
});

test('user ids are one slice, or slices of 250 if the caller does not wait', () => {
  const userIds = Array.from({ length: 600 }, (_, index) => `u${index}`);
  expect(slices({ userIds })).toMatchObject([{ from: 0, to: 600, userIds }]);
  const divided = slices({ userIds }, pace, true);
  expect(divided).toMatchObject([{ to: 200 }, { to: 200 }, { to: 200 }]);
  expect(divided.flatMap((one) => one.userIds)).toEqual(userIds);
});

test('users with long values are more slices, each below 200 kB, and their values are with them', () => {
  const userIds = Array.from({ length: 1000 }, (_, index) => `u${index}`);
  // A few long ones, as an even division by number would not expect.
  const values = userIds.map((userId, index) => ({ a: userId.repeat(index < 100 ? 700 : 1) }));
  expect(slices({ userIds, values })).toMatchObject([{ from: 0, to: 1000, userIds, values }]);
  const divided = slices({ userIds, values }, pace, true);
  expect(divided.length).toBeGreaterThan(4);
  for (const one of divided) {
    expect(Buffer.byteLength(JSON.stringify(one))).toBeLessThan(200_000);
    expect(one.userIds!.length).toBeLessThanOrEqual(250);
    expect(one.values).toHaveLength(one.userIds!.length);
  }
  expect(divided.flatMap((one) => one.userIds)).toEqual(userIds);
  expect(divided.flatMap((one) => one.values)).toEqual(values);
  expect(slices({ userIds, values }, pace, true)).toEqual(divided);
  const appBadges = userIds.map((_, index) => (index % 3 === 0 ? null : index));
  const numbered = slices({ userIds, appBadges }, pace, true);
  expect(numbered.length).toBeGreaterThan(1);
  expect(numbered.flatMap((one) => one.appBadges)).toEqual(appBadges);
});

test('user ids alone can be too long for an invocation too', () => {
  const userIds = Array.from({ length: 250 }, (_, index) => '\u0001'.repeat(200) + index);
  for (const one of slices({ userIds }, pace, true)) {
    expect(Buffer.byteLength(JSON.stringify(one))).toBeLessThan(200_000);
  }
});

test('each slice has its own counters', () => {
  const all = slices({ subscribers: 1_000_000 });
  expect(all.map(({ firstCounter }) => firstCounter)).toEqual(all.map((_, index) => index * 7));
  expect(new Set(all.map(({ counters }) => counters))).toEqual(new Set([7]));
  expect(slices({ subscribers: 10_000 })[0]).toMatchObject({ firstCounter: 0, counters: 1 });
  expect(slices({ subscribers: 9_000_000 })[0]).toMatchObject({ counters: 8 });
});

test('recipients are read consistently up to 30,000', () => {
  expect(slices({ subscribers: 30_000 })[0]).toMatchObject({ consistent: true });
  expect(slices({ subscribers: 30_001 })[0]).toMatchObject({ consistent: false });
});

test.each([
  [0, 0],
  [12, 0],
  [13, 1],
  [100, 4],
  [500, 20],
  [1_000_000, 20],
])('browsers of %i subscribers spread their shown events over %i s', (subscribers, seconds) => {
  expect(slices({ subscribers })[0]).toMatchObject({ eventWindowSeconds: seconds });
});

test('browsers of as many users spread their shown events as those of subscribers', () => {
  const userIds = Array.from({ length: 100 }, (_, index) => `u${index}`);
  expect(slices({ userIds })[0]).toMatchObject({ eventWindowSeconds: eventWindowSeconds(100) });
});

test.each([50, 100, 250, 500])(
  'of %i subscribers, a new account counts nearly all shown events at the first attempt',
  (subscribers) => {
    // Three of five browsers are online when the notification is sent.
    const events = 0.6 * subscribers;
    expect(refusedEvents(events, eventWindowSeconds(subscribers))).toBeLessThanOrEqual(
      0.02 * events,
    );
  },
);

const trackMemoryMb: number =
  resources('AWS::Lambda::Function')[functionNamed('track')]!.Properties.MemorySize;

/** Events that no function is free for: 9 of 10 are left beside send, and all of them are cold. */
function refusedEvents(events: number, windowSeconds: number): number {
  const random = new Random(1);
  const arrivals = Array.from({ length: events }, () => random.between(0, windowSeconds * 1000));
  const freeAt: number[] = [];
  let refused = 0;
  for (const time of arrivals.sort((a, b) => a - b)) {
    const free = freeAt.findIndex((at) => at <= time);
    if (free >= 0) freeAt[free] = time + 1000 * eventSeconds(trackMemoryMb);
    else if (freeAt.length < 9) freeAt.push(time + 1000 * seconds.coldStart);
    else refused += 1;
  }
  return refused;
}

test('a slice passes the schema that deliver checks it with', () => {
  for (const one of slices({ subscribers: 100_000 })) {
    expect(sliceSchema.parse(JSON.parse(JSON.stringify(one)))).toEqual(one);
  }
});
