import { readFileSync } from 'node:fs';
import { failureReasonNames, failureReasons } from '../../contract/failure-reasons.ts';
import { deliverResponseSchema, shareResultSchema, shareSchema } from '../../contract/share.ts';
import { shareSizes } from '../../contract/share-sizes.ts';

const result = {
  ...{ attempted: 3, delivered: 1, removed: 0, failed: 2 },
  failures: { refused: 1, interrupted: 1 },
  unreached: 0,
  isComplete: true,
};

test('a result passes the schema that send checks it with', () => {
  expect(shareResultSchema.parse(JSON.parse(JSON.stringify(result)))).toEqual(result);
});

test.each([
  ['an unknown failure reason', { failures: { bored: 1 } }],
  ['a negative count', { attempted: -1 }],
  ['a missing count', { unreached: undefined }],
])('a result with %s is invalid', (_, change) => {
  expect(shareResultSchema.safeParse({ ...result, ...change }).success).toBe(false);
});

test('every failure reason may occur in a result', () => {
  for (const reason of failureReasonNames) {
    expect(shareResultSchema.parse({ ...result, failures: { [reason]: 1 } })).toBeDefined();
    expect(failureReasons[reason]).toMatch(/^[A-Z].*\.$/);
  }
});

test('deliver returns no result for a share that another invocation has', () => {
  expect(deliverResponseSchema.parse({})).toEqual({});
  expect(deliverResponseSchema.safeParse(null).success).toBe(false);
});

// Deliver opens an item and makes a message for each.
test('a share has no more tallies than send gives it', () => {
  const share = JSON.parse(readFileSync('releases/shares.json', 'utf8')).synchronousBroadcast;
  const { tallies } = shareSizes;
  expect(shareSchema.safeParse({ ...share, tallies }).success).toBe(true);
  for (const invalid of [0, 1.5, tallies + 1, 1e9]) {
    expect(shareSchema.safeParse({ ...share, tallies: invalid }).success).toBe(false);
  }
});
