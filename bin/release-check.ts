/** Checks that a version is ready to be tagged. With `--tag`, also that the tag names it. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { notificationContentSchema } from '../contract/schemas/notification.ts';
import { sliceSchema } from '../contract/slice.ts';
import { releaseMistakes } from './release-mistakes.ts';

const { tag } = parseArgs({ options: { tag: { type: 'string' } } }).values;
const read = (file: string) => readFileSync(file, 'utf8');
const sampled = read('releases/slices.json');
const fields = [sliceSchema, notificationContentSchema].flatMap(({ shape }) => Object.keys(shape));
const mistakes = releaseMistakes({
  version: JSON.parse(read('package.json')).version,
  lockedVersion: JSON.parse(read('package-lock.json')).version,
  tag,
  changelog: read('CHANGELOG.md'),
  unsampled: fields.filter((name) => !sampled.includes(`"${name}":`)),
  isKept: read('openapi.json') === read('releases/openapi.json'),
});
for (const mistake of mistakes) console.error(mistake);
if (mistakes.length > 0) process.exitCode = 1;
