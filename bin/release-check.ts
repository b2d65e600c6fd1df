/** Checks that a version is ready to be tagged. With `--tag`, also that the tag names it. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { releaseMistakes } from './release-mistakes.ts';

const { tag } = parseArgs({ options: { tag: { type: 'string' } } }).values;
const read = (file: string) => readFileSync(file, 'utf8');
const mistakes = releaseMistakes({
  version: JSON.parse(read('package.json')).version,
  lockedVersion: JSON.parse(read('package-lock.json')).version,
  tag,
  changelog: read('CHANGELOG.md'),
  isKept: read('openapi.json') === read('releases/openapi.json'),
});
for (const mistake of mistakes) console.error(mistake);
if (mistakes.length > 0) process.exitCode = 1;
