import { readFileSync } from 'node:fs';
import {
  sendTimeline as send,
  sliceTimeline as slice,
  sliceSizes,
} from '../../contract/infrastructure/delivery.ts';
import { readEnvironment } from '../../contract/infrastructure/environment.ts';
import { type Slice, sliceSchema } from '../../contract/infrastructure/slice.ts';

/** A push takes this at most. */
const pushMs = 10_000;
/** A call to the database that gets no response is repeated after this. */
const repeatedAfterMs = 2000;

test('the steps of a send follow each other and end before the gateway gives up', () => {
  const steps = [send.lastPushMs, send.pushEndMs, send.endMs, send.timeoutMs, 30_000];
  expect(steps.toSorted((one, other) => one - other)).toEqual(steps);
  expect(new Set(steps).size).toBe(steps.length);
});

test('all pushes have ended before the lease that allowed them has', () => {
  const lastEndMs = slice.knownForMs + pushMs;
  expect(lastEndMs + slice.clockDifferenceMs).toBeLessThan(slice.leaseMs);
});

test('ten writes may fail before the lease has ended', () => {
  expect(slice.leaseMs).toBeGreaterThan(10 * slice.saveEveryMs);
});

test('the last push of a function ends before the last writes begin', () => {
  expect(slice.lastPushBeforeEndMs).toBeGreaterThan(pushMs + slice.lastWritesMs);
});

test('three attempts of a function have time for the longest delivery', () => {
  const attemptMs =
    slice.timeoutMs - slice.lastPushBeforeEndMs - slice.lastChunkBeforeMs - slice.lastWritesMs;
  expect(3 * attemptMs).toBeGreaterThan(sliceSizes.longestSeconds * 1000);
});

test('a planned chunk is pushed in the time that is left for the last one', () => {
  expect(sliceSizes.chunkSeconds * 1000).toBeLessThan(slice.lastChunkBeforeMs);
  expect(sliceSizes.expectedChunk).toBeLessThan(sliceSizes.chunk);
  expect(sliceSizes.expectedRecipients).toBeLessThan(sliceSizes.recipients);
});

test('no push starts later than promised after a stop, although a write has failed', () => {
  expect(slice.knownForMs).toBeLessThan(slice.lastPushAfterStopMs);
  expect(slice.knownForMs).toBeGreaterThan(slice.saveEveryMs + repeatedAfterMs);
});

test('a slice that nobody has taken is delivered while pushes of its request may start', () => {
  expect(slice.startedWithinMs).toBeLessThan(send.lastPushMs);
});

const released: Slice = JSON.parse(
  readFileSync('releases/slices.json', 'utf8'),
).synchronousBroadcast;

const isAccepted = (changes: object) => sliceSchema.safeParse({ ...released, ...changes }).success;

// Deliver opens an item and makes a message for each.
test('a slice has no more event counters than send gives it', () => {
  const { counters } = sliceSizes;
  expect(isAccepted({ counters })).toBe(true);
  for (const invalid of [0, 1.5, counters + 1, 1e9]) {
    expect(isAccepted({ counters: invalid })).toBe(false);
  }
});

// It may narrow the audience.
test.each([
  ['member', { onlyTo: 'ada' }],
  ['condition', { conditions: { ...released.conditions, country: 'de' } }],
])('a slice with a %s that this version does not know is refused', (_, changes) => {
  expect(isAccepted({})).toBe(true);
  expect(isAccepted(changes)).toBe(false);
});

test('readEnvironment returns the named variables, parsed', () => {
  const environment = readEnvironment(['PROJECTS_TABLE', 'SUBSCRIBER_CAP', 'EXTRA_PUSH_ORIGINS'], {
    PROJECTS_TABLE: 'projects',
    SUBSCRIBER_CAP: '1000',
    EXTRA_PUSH_ORIGINS: 'http://a,http://b:1',
    USAGE_TABLE: 'usage',
  });
  expect(environment).toEqual({
    PROJECTS_TABLE: 'projects',
    SUBSCRIBER_CAP: 1000,
    EXTRA_PUSH_ORIGINS: ['http://a', 'http://b:1'],
  });
});

test('an empty EXTRA_PUSH_ORIGINS means no extra origins', () => {
  const environment = readEnvironment(['EXTRA_PUSH_ORIGINS'], { EXTRA_PUSH_ORIGINS: '' });
  expect(environment.EXTRA_PUSH_ORIGINS).toEqual([]);
});

test('PREFER_IPV6 is true or false', () => {
  expect(readEnvironment(['PREFER_IPV6'], { PREFER_IPV6: 'true' }).PREFER_IPV6).toBe(true);
  expect(readEnvironment(['PREFER_IPV6'], { PREFER_IPV6: 'false' }).PREFER_IPV6).toBe(false);
  expect(() => readEnvironment(['PREFER_IPV6'], { PREFER_IPV6: '1' })).toThrow(
    'PREFER_IPV6 must be true or false',
  );
});

test('the error names every missing or invalid variable', () => {
  expect(() =>
    readEnvironment(['PROJECTS_TABLE', 'SUBSCRIBER_CAP'], { SUBSCRIBER_CAP: 'many' }),
  ).toThrow(
    "The function's environment is incomplete. PROJECTS_TABLE is not set; " +
      'SUBSCRIBER_CAP must be a whole number above 0',
  );
});
