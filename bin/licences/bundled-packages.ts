import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package whose code is in a bundle. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX expression. Absent if the package has none. */
  readonly licence?: string | undefined;
  /** Whether the lockfile marks it as a development dependency. */
  readonly dev: boolean;
}

interface Lockfile {
  readonly packages: Readonly<
    Record<string, { readonly version: string; readonly license?: string; readonly dev?: boolean }>
  >;
}

/**
 * The packages in the functions' bundles, sorted by folder. Reads the source maps of the bundles,
 * and versions and licences from the lockfile.
 * @param assembly directory of a cloud assembly with bundles.
 * @throws {Error} if there are no bundles, or the lockfile lacks a package.
 */
export function bundledPackages(
  assembly: string,
  lockfile = 'package-lock.json',
): readonly BundledPackage[] {
  const { packages } = JSON.parse(readFileSync(lockfile, 'utf8')) as Lockfile;
  const maps = readdirSync(assembly)
    .filter((name) => name.startsWith('asset.'))
    .map((name) => join(assembly, name, 'index.js.map'));
  if (maps.length === 0) throw new Error(`${assembly} contains no bundles.`);
  const folders = new Set(maps.flatMap(packageFolders));
  return [...folders].sort().map((folder) => {
    const found = packages[folder];
    if (found === undefined) throw new Error(`${folder} is missing in ${lockfile}.`);
    const [name = ''] = /[^/]+$|@[^/]+\/[^/]+$/.exec(folder) ?? [];
    const { version, license: licence, dev = false } = found;
    return { name, version, licence, dev };
  });
}

/** Package folders, as in the lockfile: `node_modules/a/node_modules/@b/c`. */
function packageFolders(map: string): string[] {
  const { sources } = JSON.parse(readFileSync(map, 'utf8')) as { sources: readonly string[] };
  return sources.flatMap((source) => {
    const [folder] =
      /node_modules\/(?:(?:@[^/]+\/)?[^/]+\/node_modules\/)*(?:@[^/]+\/)?[^/]+/.exec(source) ?? [];
    return folder ?? [];
  });
}
