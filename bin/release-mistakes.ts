import { isDeepStrictEqual } from 'node:util';

export interface Release {
  readonly version: string;
  /** The version in package-lock.json. */
  readonly lockedVersion: string;
  /** Such as `v1.0.0`; absent before the tag is made. */
  readonly tag?: string | undefined;
  readonly changelog: string;
  /** openapi.json, and the copy that later versions are compared with. */
  readonly openapi: string;
  readonly keptOpenapi: string;
  /** Samples of slices, and those that are kept. */
  readonly slices: object;
  readonly keptSlices: object;
}

/** What has to be done before the version is released. A line each. */
export function releaseMistakes(release: Release): readonly string[] {
  const { version, lockedVersion, tag, changelog } = release;
  const heading = /^## (.*)$/m.exec(changelog)?.[1] ?? '';
  const mistakes: (readonly [boolean, string])[] = [
    [!/^\d+\.\d+\.\d+$/.test(version), `package.json: ${version} is not a version.`],
    [lockedVersion !== version, `package-lock.json has ${lockedVersion}. Run: npm install`],
    [
      !new RegExp(`^${version.replaceAll('.', '\\.')} \\(\\d{4}-\\d\\d-\\d\\d\\)$`).test(heading),
      `CHANGELOG.md: the first heading must be "## ${version} (<date>)"; it is "## ${heading}".`,
    ],
    [tag !== undefined && tag !== `v${version}`, `The tag is ${tag}; package.json has ${version}.`],
    [
      release.openapi !== release.keptOpenapi ||
        !isDeepStrictEqual(release.slices, release.keptSlices),
      'releases/ has another version. Run: npm run release',
    ],
  ];
  return mistakes.flatMap(([isMade, mistake]) => (isMade ? [mistake] : []));
}
