import { readFileSync } from 'node:fs';
import { sliceSamples } from '../../bin/share-samples.ts';
import { type Slice, sliceSchema } from '../../contract/slice.ts';
import { version } from '../../package.json' with { type: 'json' };

const readRelease = (name: string) => JSON.parse(readFileSync(`releases/${name}.json`, 'utf8'));
const released: Record<string, Slice> = readRelease('slices');

// A slice may wait in Lambda's queue for hours, also while a new version is deployed.
test.each(Object.entries(released))(
  'a slice of the last release is read without loss: %s',
  (_, slice) => {
    expect(sliceSchema.parse(slice)).toEqual(slice);
  },
);

test('the last release has a sample of each kind of slice', () => {
  expect(Object.keys(released)).toEqual(Object.keys(sliceSamples()));
});

test('the samples set every field, each in at least one of them', () => {
  const set = Object.values(sliceSamples()).flatMap((slice) => Object.keys(slice));
  expect(new Set(set)).toEqual(new Set(Object.keys(sliceSchema.shape)));
});

// A new version without `npm run release` would leave the comparisons with an older release.
test('the last release is the version of package.json', () => {
  expect(readRelease('openapi').info.version).toBe(version);
});
