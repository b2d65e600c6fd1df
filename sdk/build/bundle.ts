import { join } from 'node:path';
import { transform } from '@swc/core';
import { build, type Plugin } from 'esbuild';
import { minify } from 'uglify-js';
import * as routeAddresses from '../../contract/wire/route-addresses.ts';
import * as workerValues from '../../contract/wire/worker-values.ts';
import { version } from '../../package.json' with { type: 'json' };

/** What the SDK is built into, and where each starts in `sdk/`. `.mjs` is a module, `.js` a classic script. */
export const entryPoints = {
  'carillon.mjs': 'client/carillon.ts',
  'carillon.js': 'client/global.ts',
  'carillon-bell.mjs': 'bell/carillon-bell.ts',
  'carillon-check.mjs': 'check/carillon-check.ts',
  'carillon-sw.js': 'worker/carillon-sw.ts',
  // For bundlers, as a part of a site's own worker.
  'carillon-sw.mjs': 'worker/carillon-sw.ts',
  'carillon-server.mjs': 'server/carillon-server.ts',
} as const;

/** A bundle, or its source map. */
export interface BundledFile {
  readonly name: string;
  readonly contents: Uint8Array;
}

const target = 'es2022';
const banner = `/*! Carillon ${version}, Apache-2.0 */`;

/** Modules that compute constants. */
const computing = { 'worker-values': workerValues, 'route-addresses': routeAddresses };

/** Puts constants in the place of the modules that compute them, so that what these import is not bundled. */
const constants: Plugin = {
  name: 'constants',
  setup({ onLoad }) {
    for (const [file, values] of Object.entries(computing)) {
      onLoad({ filter: new RegExp(`/contract/wire/${file}\\.ts$`) }, () => ({
        contents: Object.entries(values)
          .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
          .join('\n'),
      }));
    }
  },
};

/** Bundles and minifies the SDK, with source maps. @param root of the repository. */
export async function bundleSdk(root: string): Promise<readonly BundledFile[]> {
  const files = Object.entries(entryPoints).map(async ([file, entryPoint]) => {
    const isOfServer = entryPoint.startsWith('server/');
    const { outputFiles } = await build({
      absWorkingDir: join(root, 'sdk'),
      entryPoints: [entryPoint],
      outfile: file,
      format: file.endsWith('.mjs') ? 'esm' : 'iife',
      platform: isOfServer ? 'node' : 'browser',
      bundle: true,
      // Leaves out constants that nothing uses.
      minifySyntax: true,
      sourcemap: 'external',
      target,
      plugins: [constants],
      define: { VERSION: JSON.stringify(version), IMPORTED: String(file.endsWith('.mjs')) },
      ...(isOfServer && { banner: { js: banner } }),
      write: false,
      logLevel: 'silent',
    });
    const [inputSourceMap, source] = outputFiles.map(({ text }) => text) as [string, string];
    // esbuild would leave constants and functions that are used once in their places: 5 % more after compression.
    // Nothing in the SDK calls a function with `new`, so each can be an arrow. Of the client for servers only the
    // comments are removed, so that stack traces stay readable.
    const compress = {
      passes: 3,
      ecma: 2020,
      unsafe: true,
      unsafe_arrows: true,
      unsafe_regexp: true,
    } as const;
    const steps = isOfServer ? { compress: false } : { compress, toplevel: true };
    const inlined = await transform(source, {
      swcrc: false,
      minify: !isOfServer,
      sourceMaps: true,
      inputSourceMap,
      jsc: { target, minify: { ...steps, mangle: false, format: { comments: 'some' } } },
    });
    const { code, map } = isOfServer ? inlined : named(inlined.code, inlined.map!);
    return [
      { name: file, contents: Buffer.from(`${code}\n//# sourceMappingURL=${file}.map\n`) },
      { name: `${file}.map`, contents: Buffer.from(map!) },
    ];
  });
  return (await Promise.all(files)).flat();
}

/** Gives variables and parameters short names, fewer and better to compress than those of swc: 2 % less. */
function named(source: string, sourceMap: string): { readonly code: string; readonly map: string } {
  const { error, code, map } = minify(source, {
    module: true,
    // Reading `sessionStorage` has an effect: it throws.
    compress: { passes: 5, pure_getters: false, inline: 1, hoist_vars: true, unsafe: true },
    output: { preamble: banner },
    sourceMap: { content: JSON.parse(sourceMap), includeSources: true },
  });
  if (error) throw error;
  return { code, map };
}
