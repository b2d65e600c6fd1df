import { readFileSync } from 'node:fs';
import { shareSamples } from '../../../bin/release/share-samples.ts';
import { type Share, shareSchema } from '../../../contract/share.ts';

const released: Record<string, Share> = JSON.parse(readFileSync('releases/shares.json', 'utf8'));

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
