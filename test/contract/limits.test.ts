import { limits } from '../../contract/limits.ts';

const { send, share } = limits;

test('the steps of a send follow each other and end before the gateway gives up', () => {
  const steps = [send.lastPushMs, send.deliveryEndMs, send.endMs, send.timeoutMs, 30_000];
  expect(steps.toSorted((one, other) => one - other)).toEqual(steps);
  expect(new Set(steps).size).toBe(steps.length);
});

test('a chunk has ended when Lambda repeats its invocation, after a minute at the earliest', () => {
  expect(share.lastPushMs).toBeLessThan(share.endMs);
  expect(share.endMs + share.lastWritesMs).toBeLessThan(60_000);
});

test('a planned chunk is pushed before its last push', () => {
  expect(share.chunkSeconds * 1000).toBeLessThan(share.lastPushMs);
  expect(share.expectedRecipients).toBeLessThan(share.recipients);
});
