import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { type Output, outputs } from './outputs.ts';

/** A bundle, or its source map. */
export interface BundledFile {
  readonly name: string;
  readonly contents: Uint8Array;
}

const site: BuildOptions = { minify: true };

/** Readable, for stack traces; `minifySyntax` also leaves out constants that nothing uses. */
const server: BuildOptions = { platform: 'node', minifySyntax: true };

/**
 * Bundles and minifies what sites host: the client as a module and as a script that sets
 * `window.Carillon`, and the service worker. Each bundle has a source map.
 * @param root of the repository.
 */
export function bundleSdk(root: string): Promise<readonly BundledFile[]> {
  return bundle(root, ({ runsIn }) => runsIn !== 'server');
}

/** Bundles the client for servers. */
export function bundleServerClient(root: string): Promise<readonly BundledFile[]> {
  return bundle(root, ({ runsIn }) => runsIn === 'server');
}

async function bundle(
  root: string,
  isWanted: (output: Output) => boolean,
): Promise<readonly BundledFile[]> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const results = await Promise.all(
    outputs.filter(isWanted).map(({ file, entryPoint, runsIn }) =>
      build({
        ...(runsIn === 'server' ? server : site),
        absWorkingDir: join(root, 'sdk'),
        entryPoints: [entryPoint],
        outfile: file,
        format: file.endsWith('.mjs') ? 'esm' : 'iife',
        bundle: true,
        sourcemap: 'linked',
        target: 'es2022',
        define: { VERSION: JSON.stringify(version) },
        banner: { js: `/* Carillon ${version}, Apache-2.0 */` },
        write: false,
        logLevel: 'silent',
      }),
    ),
  );
  return results.flatMap(({ outputFiles }) =>
    outputFiles.map(({ path, contents }) => ({
      name: path.slice(path.lastIndexOf('/') + 1),
      contents,
    })),
  );
}
