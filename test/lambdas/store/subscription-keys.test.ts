import type { ProjectRef } from '../../../contract/wire/project.ts';
import {
  deviceIdOf,
  endpointHash,
  hashOfDevice,
  hashRanges,
  partitionCount,
  partitionOf,
  positionCount,
  subscriptionKey,
} from '../../../lambdas/store/items.ts';
import { knownProject } from '../../fixtures/known-project.ts';

const hashes = Array.from({ length: 2000 }, (_, n) =>
  endpointHash(knownProject, `https://updates.push.services.mozilla.com/wpush/v2/${n}`),
);

/** How many of these hashes each part has. */
function countByPart(hashes: readonly Uint8Array[]): readonly number[] {
  const counts = new Array<number>(partitionCount).fill(0);
  for (const hash of hashes) counts[partitionOf(hash)]! += 1;
  return counts;
}

test('subscriptions are spread evenly over the parts of a project', () => {
  for (const count of countByPart(hashes)) {
    expect(Math.abs(count - 2000 / partitionCount)).toBeLessThan(80);
  }
});

test('endpoints that are chosen by everything but the internal key are spread as evenly', () => {
  const guessed = { ...knownProject, internalKey: new Uint8Array(32) };
  const endpoints = Array.from({ length: 32_000 }, (_, n) => `https://web.push.apple.com/${n}`);
  const digests = [
    (endpoint: string) => Buffer.from(deviceIdOf(endpoint), 'base64url'),
    (endpoint: string) => endpointHash(guessed, endpoint),
  ];
  for (const digest of digests) {
    const chosen = endpoints.filter((endpoint) => partitionOf(digest(endpoint)) === 3);
    for (const count of countByPart(chosen.map((one) => endpointHash(knownProject, one)))) {
      expect(Math.abs(count - chosen.length / partitionCount)).toBeLessThan(110);
    }
  }
});

test('a device has the hash of its endpoint', () => {
  const endpoint = 'https://web.push.apple.com/1';
  expect(hashOfDevice(knownProject, deviceIdOf(endpoint))).toEqual(
    endpointHash(knownProject, endpoint),
  );
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
      ({ partition, first, last }) =>
        partition === partitionOf(hash) &&
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
