import { readFileSync } from 'node:fs';
import { shareSamples } from '../../bin/share-samples.ts';
import { type Share, shareSchema } from '../../contract/share.ts';
import { version } from '../../package.json' with { type: 'json' };

const readRelease = (name: string) => JSON.parse(readFileSync(`releases/${name}.json`, 'utf8'));
const released: Record<string, Share> = readRelease('shares');

// A share may wait in Lambda's queue for hours, also while a new version is deployed.
test.each(Object.entries(released))(
  'a share of the last release is read without loss: %s',
  (_, share) => {
    expect(shareSchema.parse(share)).toEqual(share);
  },
);

test('the last release has a sample of each kind of share', () => {
  expect(Object.keys(released)).toEqual(Object.keys(shareSamples()));
});

test('the samples set every field, each in at least one of them', () => {
  const set = Object.values(shareSamples()).flatMap((share) => Object.keys(share));
  expect(new Set(set)).toEqual(new Set(Object.keys(shareSchema.shape)));
});

// A new version without `npm run release` would leave the comparisons with an older release.
test('the last release is the version of package.json', () => {
  expect(readRelease('openapi').info.version).toBe(version);
});
