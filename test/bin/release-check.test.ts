import { readFileSync } from 'node:fs';
import { type Release, releaseMistakes } from '../../bin/release-check.ts';
import { sliceSchema } from '../../contract/infrastructure/slice.ts';

const ready: Release = {
  version: '1.0.0',
  lockedVersion: '1.0.0',
  changelog: '# Changelog\n\n## 1.0.0 (2026-12-01)\n\n## 0.7.0 (2026-11-01)\n',
  unsampled: [],
  isKept: true,
};

test('a release that is ready has no mistakes, before and after it is tagged', () => {
  expect(releaseMistakes(ready)).toEqual([]);
  expect(releaseMistakes({ ...ready, tag: 'v1.0.0' })).toEqual([]);
});

test.each<[Partial<Release>, string]>([
  [{ lockedVersion: '0.7.0' }, 'package-lock.json has 0.7.0. Run: npm install'],
  [{ tag: 'v1.0.1' }, 'The tag is v1.0.1; package.json has 1.0.0.'],
  [
    { changelog: '## 1.0.0 (unreleased)\n' },
    'CHANGELOG.md: the first heading must be "## 1.0.0 (<date>)"; it is "## 1.0.0 (unreleased)".',
  ],
  [{ unsampled: ['pace', 'from'] }, 'Add to the samples of releases/slices.json: pace, from.'],
  [{ isKept: false }, 'releases/openapi.json is of another version. Run: npm run release'],
])('%j is: %s', (change, mistake) => {
  expect(releaseMistakes({ ...ready, ...change })).toEqual([mistake]);
});

// A slice may wait in Lambda's queue for hours, also while a new version is deployed.
test.each(Object.entries(JSON.parse(readFileSync('releases/slices.json', 'utf8'))))(
  'a slice of the last release is read without loss: %s',
  (_, slice) => {
    // What a new field gets by default is no loss.
    expect(sliceSchema.parse(slice)).toMatchObject(slice as object);
  },
);
