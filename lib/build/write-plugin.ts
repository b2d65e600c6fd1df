import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { build } from 'esbuild';
import { zipSync } from 'fflate';
import { filesIn } from './bundle-functions.ts';

/**
 * Builds the plugin for WordPress: `carillon-wordpress.zip`, whose only folder is `carillon`.
 * @param root of the repository.
 * @param target absolute; must exist.
 * @param sdk folder of the npm package, as built.
 * @returns the path of the file.
 */
export async function writePlugin(root: string, target: string, sdk: string, version: string) {
  const source = join(root, 'wordpress');
  const files: Record<string, Uint8Array> = {
    'carillon/LICENSE': readFileSync(join(root, 'LICENSE')),
    'carillon/scripts/carillon-sw.js': readFileSync(join(sdk, 'carillon-sw.js')),
  };
  for (const file of filesIn(source).filter((name) => /\.(php|txt)$/.test(name))) {
    const text = readFileSync(file, 'utf8').replaceAll('0.0.0', version);
    files[`carillon/${relative(source, file)}`] = Buffer.from(text);
  }
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ['visitor', 'settings', 'editor'].map((name) => `wordpress/scripts/${name}.ts`),
    outdir: join(target, 'scripts'),
    // The imports of `carillon` are those of the package, not of its sources.
    nodePaths: [dirname(sdk)],
    tsconfigRaw: {},
    bundle: true,
    minify: true,
    // A function around each, so that the classic scripts declare nothing in the page.
    format: 'iife',
    target: 'es2022',
    write: false,
    logLevel: 'warning',
  });
  for (const { path, contents } of outputFiles)
    files[`carillon/scripts/${basename(path)}`] = contents;
  const zip = join(target, 'carillon-wordpress.zip');
  // The date is fixed, so that each build has the same bytes.
  writeFileSync(zip, zipSync(files, { level: 9, mtime: '1980-01-01' }));
  return zip;
}
