import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { bundleSdk } from './bundle.ts';
import { emitTypes } from './emit-types.ts';
import manifest from './package.json' with { type: 'json' };

/** The npm package. */
export interface WrittenPackage {
  readonly folder: string;
  readonly tarball: string;
}

/**
 * Builds and packs the npm package, into the folder `carillon` and a tarball beside it.
 * @param root of the repository.
 * @param target absolute. Whatever it contained is removed.
 */
export async function writePackage(
  root: string,
  target: string,
  version = packageJson.version,
): Promise<WrittenPackage> {
  const folder = join(target, 'carillon');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { name, contents } of await bundleSdk(root)) {
    writeFileSync(join(folder, name), contents);
  }
  emitTypes(root, folder);
  // No notices: the bundles contain no code of other packages.
  for (const file of ['LICENSE', 'sdk/README.md', 'openapi.json']) {
    copyFileSync(join(root, file), join(folder, file.replace('sdk/', '')));
  }
  // A release is built in the repository's workflow, which knows its name, and whether npm gets it.
  const { GITHUB_REPOSITORY: name = 'you/carillon', PUBLISH_TO_NPM } = process.env;
  const isPrivate = PUBLISH_TO_NPM !== 'true' && { private: true };
  const { private: _, ...others } = manifest;
  const contents = JSON.stringify({ ...others, ...isPrivate, version }, null, 2).replace(
    'you/carillon',
    name,
  );
  writeFileSync(join(folder, 'package.json'), `${contents}\n`);
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', target], {
    cwd: folder,
    encoding: 'utf8',
  });
  const [{ filename }] = JSON.parse(packed);
  return { folder, tarball: join(target, filename) };
}
