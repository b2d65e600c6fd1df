import { shareSizes } from '../../contract/share-sizes.ts';
import { sendTimeline as send, shareTimeline as share } from '../../contract/timeline.ts';

test('the steps of a send follow each other and end before the gateway gives up', () => {
  const steps = [send.lastPushMs, send.pushEndMs, send.endMs, send.timeoutMs, 30_000];
  expect(steps.toSorted((one, other) => one - other)).toEqual(steps);
  expect(new Set(steps).size).toBe(steps.length);
});

test('pushes survive ten writes that fail, and end before the claim does', () => {
  const pushesMs = share.claimMs - share.lastPushBeforeEndMs;
  expect(pushesMs).toBeGreaterThan(10 * share.saveEveryMs);
  // A push takes 10 s at most.
  expect(share.lastPushBeforeEndMs).toBeGreaterThan(10_000 + share.lastWritesMs);
});

test('three attempts of a function have time for the longest delivery', () => {
  const attemptMs = share.timeoutMs - share.lastChunkBeforeEndMs;
  expect(3 * attemptMs).toBeGreaterThan(shareSizes.longestSeconds * 1000);
});

test('a planned chunk is pushed in the time that is left for the last one', () => {
  expect(shareSizes.chunkSeconds * 1000).toBeLessThan(share.lastChunkBeforeEndMs);
  expect(shareSizes.expectedRecipients).toBeLessThan(shareSizes.recipients);
});

test('no push starts later than promised after a stop, although a write has failed', () => {
  expect(share.pushAfterWriteMs).toBeLessThan(share.lastPushAfterStopMs);
  // A call that gets no response is repeated after 2 s.
  expect(share.pushAfterWriteMs).toBeGreaterThan(share.saveEveryMs + 2000);
});
