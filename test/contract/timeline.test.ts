import {
  sendTimeline as send,
  sliceTimeline as slice,
  sliceSizes,
} from '../../contract/infrastructure/delivery.ts';

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
  const attemptMs = slice.timeoutMs - slice.lastChunkBeforeEndMs;
  expect(3 * attemptMs).toBeGreaterThan(sliceSizes.longestSeconds * 1000);
});

test('a planned chunk is pushed in the time that is left for the last one', () => {
  expect(sliceSizes.chunkSeconds * 1000).toBeLessThan(slice.lastChunkBeforeEndMs);
  expect(sliceSizes.expectedRecipients).toBeLessThan(sliceSizes.recipients);
});

test('no push starts later than promised after a stop, although a write has failed', () => {
  expect(slice.knownForMs).toBeLessThan(slice.lastPushAfterStopMs);
  expect(slice.knownForMs).toBeGreaterThan(slice.saveEveryMs + repeatedAfterMs);
});

test('a slice that nobody has taken is delivered while pushes of its request may start', () => {
  expect(slice.startedWithinMs).toBeLessThan(send.lastPushMs);
});
