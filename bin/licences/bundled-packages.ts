import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package that lies in a bundle. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX expression; absent where the package states none. */
  readonly licence?: string | undefined;
  /** Whether it is there for development alone, as far as the lockfile knows. */
  readonly dev: boolean;
}

interface Lockfile {
  readonly packages: Readonly<
    Record<string, { readonly version: string; readonly license?: string; readonly dev?: boolean }>
  >;
}

/**
 * The packages whose code is in the functions' bundles, by name: as the bundles' source maps tell
 * it, with versions and licences as the lockfile has them.
 * @param assembly directory of a cloud assembly, bundles included.
 * @throws {Error} where a bundle holds what the lockfile does not know, or there is none.
 */
export function bundledPackages(
  assembly: string,
  lockfile = 'package-lock.json',
): readonly BundledPackage[] {
  const { packages } = JSON.parse(readFileSync(lockfile, 'utf8')) as Lockfile;
  const maps = readdirSync(assembly)
    .filter((name) => name.startsWith('asset.'))
    .map((name) => join(assembly, name, 'index.mjs.map'));
  if (maps.length === 0) throw new Error(`${assembly} holds no bundles.`);
  const folders = new Set(maps.flatMap(packageFolders));
  return [...folders].sort().map((folder) => {
    const found = packages[folder];
    if (found === undefined) throw new Error(`The lockfile does not know ${folder}.`);
    const [name = ''] = /[^/]+$|@[^/]+\/[^/]+$/.exec(folder) ?? [];
    const { version, license: licence, dev = false } = found;
    return { name, version, licence, dev };
  });
}

/** Folders of packages as the lockfile names them: `node_modules/a/node_modules/@b/c`. */
function packageFolders(map: string): string[] {
  const { sources } = JSON.parse(readFileSync(map, 'utf8')) as { sources: readonly string[] };
  return sources.flatMap((source) => {
    const [folder] =
      /node_modules\/(?:(?:@[^/]+\/)?[^/]+\/node_modules\/)*(?:@[^/]+\/)?[^/]+/.exec(source) ?? [];
    return folder ?? [];
  });
}
