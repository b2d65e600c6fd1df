/** Fails if openapi.json breaks callers of the last release, unless the change is intended. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The description of the last release. Version 0.6 had none: this one was derived from its routes. */
const release = 'releases/openapi.json';

/** Places of breaking changes that are intended, and why. */
const intendedFile = 'releases/intended-api-changes.json';
const intended = JSON.parse(readFileSync(intendedFile, 'utf8')) as Readonly<Record<string, string>>;

const isIn =
  (place: string) =>
  ({ path }: Change) =>
    path.startsWith(place);

interface Report {
  readonly summary: { readonly minor: number };
  readonly changes: readonly Change[];
}

interface Change {
  readonly path: string;
  readonly kind: string;
  readonly impact: 'major' | 'minor' | 'patch';
  readonly verdicts: readonly { readonly message: string }[];
}

const { stdout, stderr } = spawnSync(
  process.execPath,
  [
    'node_modules/@redocly/cli/bin/cli.js',
    'diff',
    release,
    'openapi.json',
    '--format=json',
    '--fail-on=none',
  ],
  { encoding: 'utf8', maxBuffer: 2 ** 27 },
);
if (stdout === '') throw new Error(`redocly diff failed:\n${stderr}`);
const { changes, summary } = JSON.parse(stdout) as Report;
const major = changes.filter(({ impact }) => impact === 'major');
const places = Object.keys(intended);
const breaking = major.filter((change) => !places.some((place) => isIn(place)(change)));
const unused = places.filter((place) => !major.some(isIn(place)));

console.log(
  `Since ${release}: ${major.length} breaking changes, ${major.length - breaking.length} of them intended; ${summary.minor} additions.`,
);
for (const { path, kind, verdicts } of breaking) {
  console.error(
    `Breaks callers: ${kind} ${path} ${verdicts.map(({ message }) => message).join(' ')}`,
  );
}
for (const path of unused) console.error(`Remove from ${intendedFile}: ${path}`);
if (breaking.length + unused.length > 0) process.exitCode = 1;
