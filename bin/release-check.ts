/** Checks that a version is ready to be tagged. With `--tag`, also that the tag names it. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { sliceSchema } from '../contract/infrastructure/slice.ts';
import { notificationContentSchema } from '../contract/wire/notification.ts';

export interface Release {
  readonly version: string;
  /** The version in package-lock.json. */
  readonly lockedVersion: string;
  /** Such as `v1.0.0`; absent before the tag is made. */
  readonly tag?: string | undefined;
  readonly changelog: string;
  /** Fields of a slice that no sample of releases/slices.json has. */
  readonly unsampled: readonly string[];
  /** Whether the API description is kept, for comparison with later versions. */
  readonly isKept: boolean;
}

/** What has to be done before the version is released. A line each. */
export function releaseMistakes(release: Release): readonly string[] {
  const { version, lockedVersion, tag, changelog, unsampled, isKept } = release;
  const heading = /^## (.*)$/m.exec(changelog)?.[1] ?? '';
  const isDated = /^\d{4}-\d\d-\d\d$/.test(heading.replace(`${version} (`, '').slice(0, -1));
  const mistakes: readonly (readonly [isMade: boolean, mistake: string])[] = [
    [lockedVersion !== version, `package-lock.json has ${lockedVersion}. Run: npm install`],
    [
      !isDated,
      `CHANGELOG.md: the first heading must be "## ${version} (<date>)"; it is "## ${heading}".`,
    ],
    [tag !== undefined && tag !== `v${version}`, `The tag is ${tag}; package.json has ${version}.`],
    [unsampled.length > 0, `Add to the samples of releases/slices.json: ${unsampled.join(', ')}.`],
    [!isKept, 'releases/openapi.json is of another version. Run: npm run release'],
  ];
  return mistakes.flatMap(([isMade, mistake]) => (isMade ? [mistake] : []));
}

if (process.argv[1] === import.meta.filename) {
  const { tag } = parseArgs({ options: { tag: { type: 'string' } } }).values;
  const read = (file: string) => readFileSync(file, 'utf8');
  const sampled = read('releases/slices.json');
  const fields = [sliceSchema, notificationContentSchema].flatMap(({ shape }) =>
    Object.keys(shape),
  );
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
}
