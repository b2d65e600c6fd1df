import type { ProjectRef } from '../../../contract/project.ts';
import {
  endpointHash,
  hashRanges,
  partCount,
  partOf,
  positionCount,
  subscriptionKey,
} from '../../../lambdas/store/subscription-keys.ts';

const hashes = Array.from({ length: 2000 }, (_, n) =>
  endpointHash(`https://updates.push.services.mozilla.com/wpush/v2/${n}`),
);

test('subscriptions are spread evenly over the parts of a project', () => {
  const counts = new Array<number>(partCount).fill(0);
  for (const hash of hashes) counts[partOf(hash)]! += 1;
  for (const count of counts) expect(Math.abs(count - 2000 / partCount)).toBeLessThan(80);
});

test.each([
  [0, positionCount],
  [0, 1],
  [positionCount - 1, positionCount],
  [123_456_789, 3_987_654_321],
  [2 ** 29, 2 ** 30],
])('the ranges from %i to %i contain exactly the hashes that start there', (from, to) => {
  const ranges = hashRanges(from, to);
  for (const hash of [...hashes, prefixed(from), prefixed(to - 1)]) {
    const position = Buffer.from(hash).readUInt32BE();
    const containing = ranges.filter(
      ({ part, first, last }) =>
        part === partOf(hash) &&
        Buffer.compare(first, hash) <= 0 &&
        Buffer.compare(hash, last) <= 0,
    );
    expect(containing).toHaveLength(from <= position && position < to ? 1 : 0);
  }
});

test('the key of a subscription names its part', () => {
  const hash = prefixed(positionCount - 1);
  expect(subscriptionKey('shop' as ProjectRef, hash)).toEqual({
    projectPart: 'shop#7',
    endpointHash: hash,
  });
});

function prefixed(position: number): Buffer {
  const hash = Buffer.alloc(32, 0x55);
  hash.writeUInt32BE(position);
  return hash;
}
