import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Output as Compact, type JsMinifyOptions, transform } from '@swc/core';
import { build } from 'esbuild';
import { type Output, outputs } from './outputs.ts';

/** A bundle, or its source map. */
export interface BundledFile {
  readonly name: string;
  readonly contents: Uint8Array;
}

const target = 'es2022';

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
  const files = await Promise.all(
    outputs.filter(isWanted).map(async ({ file, entryPoint, runsIn }) => {
      const { outputFiles } = await build({
        absWorkingDir: join(root, 'sdk'),
        entryPoints: [entryPoint],
        outfile: file,
        format: file.endsWith('.mjs') ? 'esm' : 'iife',
        platform: runsIn === 'server' ? 'node' : 'browser',
        bundle: true,
        // Leaves out constants that nothing uses.
        minifySyntax: true,
        sourcemap: 'external',
        target,
        define: { VERSION: JSON.stringify(version) },
        banner: { js: `/*! Carillon ${version}, Apache-2.0 */` },
        write: false,
        logLevel: 'silent',
      });
      const [map, code] = outputFiles.map(({ text }) => text) as [string, string];
      const bundle = runsIn === 'server' ? await strip(code, map) : await minify(code, map);
      return [
        { name: file, text: `${bundle.code}\n//# sourceMappingURL=${file}.map\n` },
        { name: `${file}.map`, text: bundle.map! },
      ];
    }),
  );
  return files.flat().map(({ name, text }) => ({ name, contents: Buffer.from(text) }));
}

/**
 * esbuild would leave constants and functions that are used once in their places: 5 % more after compression. Nothing
 * in the SDK calls a function with `new`, so each can be an arrow.
 */
function minify(code: string, map: string): Promise<Compact> {
  const compress = { passes: 3, ecma: 2020, unsafe_arrows: true } as const;
  return compact(code, map, true, { compress, mangle: true, toplevel: true });
}

/** Removes the comments only, so that stack traces of servers stay readable. */
function strip(code: string, map: string): Promise<Compact> {
  return compact(code, map, false, { compress: false, mangle: false });
}

function compact(
  code: string,
  map: string,
  isOneLine: boolean,
  steps: JsMinifyOptions,
): Promise<Compact> {
  return transform(code, {
    swcrc: false,
    minify: isOneLine,
    sourceMaps: true,
    inputSourceMap: map,
    jsc: { target, minify: { ...steps, format: { comments: 'some' } } },
  });
}
