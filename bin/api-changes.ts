/** Fails if openapi.json breaks callers of the last release, unless the change is intended. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

interface Change {
  readonly path: string;
  readonly kind: string;
  readonly impact: 'major' | 'minor' | 'patch';
  readonly verdicts: readonly { readonly message: string }[];
}

/** Places of breaking changes that are intended, and why. */
const intended = 'releases/intended-api-changes.json';
const places = Object.keys(JSON.parse(readFileSync(intended, 'utf8')));

const redocly = 'node_modules/@redocly/cli/bin/cli.js';
const files = ['releases/openapi.json', 'openapi.json'];
const { stdout, stderr } = spawnSync(
  process.execPath,
  [redocly, 'diff', ...files, '--format=json', '--fail-on=none'],
  { encoding: 'utf8', maxBuffer: 2 ** 27 },
);
if (stdout === '') throw new Error(`redocly diff failed:\n${stderr}`);
const { changes } = JSON.parse(stdout) as { readonly changes: readonly Change[] };
const major = changes.filter(({ impact }) => impact === 'major');
const mistakes = [
  ...major
    .filter(({ path }) => !places.some((place) => path.startsWith(place)))
    .map(({ kind, path, verdicts }) =>
      ['Breaks callers:', kind, path, ...verdicts.map(({ message }) => message)].join(' '),
    ),
  ...places
    .filter((place) => !major.some(({ path }) => path.startsWith(place)))
    .map((place) => `Remove from ${intended}: ${place}`),
];
console.log(`Breaking changes since the last release: ${major.length}.`);
for (const mistake of mistakes) console.error(mistake);
if (mistakes.length > 0) process.exitCode = 1;
