import { TokenBucket } from '../../../local/gateway/token-bucket.ts';

/** Takes a token this many times. @returns how many tokens it got. */
function take(bucket: TokenBucket, times: number): number {
  return Array.from({ length: times }, () => bucket.take()).filter(Boolean).length;
}

function bucketOf(ratePerSecond: number, burst: number) {
  const clock = { ms: 0 };
  return { clock, bucket: new TokenBucket({ ratePerSecond, burst }, () => clock.ms) };
}

test('tokens are added at the rate', () => {
  const { bucket, clock } = bucketOf(2, 5);
  take(bucket, 5);
  clock.ms += 499;
  expect(take(bucket, 1)).toBe(0);
  clock.ms += 1;
  expect(take(bucket, 2)).toBe(1);
  clock.ms += 2000;
  expect(take(bucket, 10)).toBe(4);
});

test('the bucket never has more tokens than the burst', () => {
  const { bucket, clock } = bucketOf(2, 5);
  clock.ms += 3_600_000;
  expect(take(bucket, 10)).toBe(5);
});

test('frequent calls do not lose fractions of a token', () => {
  const { bucket, clock } = bucketOf(1, 1);
  take(bucket, 1);
  const taken = Array.from({ length: 100 }, () => {
    clock.ms += 10;
    return bucket.take();
  });
  expect(taken.filter(Boolean)).toHaveLength(1);
});
