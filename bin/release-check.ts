/** Checks that a version is ready to be tagged. With `--tag`, also that the tag names it. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { releaseMistakes } from './release-mistakes.ts';
import { sliceSamples } from './share-samples.ts';

const { tag } = parseArgs({ options: { tag: { type: 'string' } } }).values;
const read = (file: string) => readFileSync(file, 'utf8');
const mistakes = releaseMistakes({
  version: JSON.parse(read('package.json')).version,
  lockedVersion: JSON.parse(read('package-lock.json')).version,
  tag,
  changelog: read('CHANGELOG.md'),
  openapi: read('openapi.json'),
  keptOpenapi: read('releases/openapi.json'),
  // As JSON: without members that are undefined.
  slices: JSON.parse(JSON.stringify(sliceSamples())),
  keptSlices: JSON.parse(read('releases/slices.json')),
});
for (const mistake of mistakes) console.error(mistake);
process.exitCode = mistakes.length === 0 ? 0 : 1;
