import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BundledFile, bundleSdk, bundleServerClient } from './bundle.ts';
import { emitTypes } from './emit-types.ts';
import { packageJson } from './package-json.ts';

/** The npm package: its folder, its tarball, and the bundles and source maps in both. */
export interface WrittenPackage {
  readonly folder: string;
  readonly tarball: string;
  readonly files: readonly BundledFile[];
}

/**
 * Builds and packs the npm package, into the folder `carillon` and a tarball beside it.
 * @param root of the repository.
 * @param target absolute. Whatever it contained is removed.
 */
export async function writePackage(root: string, target: string): Promise<WrittenPackage> {
  const folder = join(target, 'carillon');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files = [...(await bundleSdk(root)), ...(await bundleServerClient(root))];
  for (const { name, contents } of files) writeFileSync(join(folder, name), contents);
  emitTypes(root, folder);
  for (const [name, source] of Object.entries(copies)) {
    copyFileSync(join(root, source), join(folder, name));
  }
  const manifest = packageJson(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', target], {
    cwd: folder,
    encoding: 'utf8',
  });
  const [{ filename }] = JSON.parse(packed);
  return { folder, tarball: join(target, filename), files };
}

/** By their name in the package. No notices: the bundles contain no code of other packages. */
const copies = {
  LICENSE: 'LICENSE',
  'README.md': 'sdk/README.md',
  'openapi.json': 'openapi.json',
};
