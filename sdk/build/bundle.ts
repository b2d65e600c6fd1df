import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';

/** A file that sites host, or its source map. */
export interface BundledFile {
  readonly name: string;
  readonly contents: Uint8Array;
}

/** Build options by output file. */
type Bundles = Readonly<Record<string, BuildOptions>>;

/** Sites host these. */
const siteBundles: Bundles = {
  'carillon.mjs': { entryPoints: ['client/carillon.ts'], format: 'esm' },
  'carillon.js': { entryPoints: ['client/global.ts'], format: 'iife' },
  'carillon-sw.js': { entryPoints: ['worker/carillon-sw.ts'], format: 'iife' },
};

/** Readable, for stack traces; `minifySyntax` also leaves out constants that nothing uses. */
const serverBundles: Bundles = {
  'carillon-server.mjs': {
    entryPoints: ['server/carillon-server.ts'],
    format: 'esm',
    platform: 'node',
    minify: false,
    minifySyntax: true,
  },
};

/**
 * Bundles and minifies the SDK: the client as a module and as a script that sets `window.Carillon`, and
 * the service worker. Each bundle has a source map.
 * @param root of the repository.
 */
export function bundleSdk(root: string): Promise<readonly BundledFile[]> {
  return bundle(root, siteBundles);
}

/** Bundles the client for servers. */
export function bundleServerClient(root: string): Promise<readonly BundledFile[]> {
  return bundle(root, serverBundles);
}

async function bundle(root: string, bundles: Bundles): Promise<readonly BundledFile[]> {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const results = await Promise.all(
    Object.entries(bundles).map(([outfile, options]) =>
      build({
        minify: true,
        ...options,
        absWorkingDir: join(root, 'sdk'),
        outfile,
        bundle: true,
        sourcemap: 'linked',
        target: 'es2022',
        define: { VERSION: JSON.stringify(version) },
        banner: { js: `/* Carillon SDK ${version}, Apache-2.0 */` },
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
