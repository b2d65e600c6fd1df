import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleSdk } from '../../sdk/build/bundle.ts';

/** One file that the playground serves. */
export interface Page {
  /** Media type. */
  readonly type: string;
  readonly contents: Uint8Array;
}

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  map: 'application/json',
  json: 'application/json',
};

/**
 * The files of the playground's page, of the SDK and of the API description, by path. They contain no
 * data of a project.
 * @param root root directory of the repository.
 */
export async function playgroundPages(root: string): Promise<ReadonlyMap<string, Page>> {
  const folder = join(root, 'local/playground/page');
  const [sdk, script, styles, html, icon, openApi] = await Promise.all([
    bundleSdk(root),
    bundle(join(folder, 'playground.ts')),
    bundle(join(folder, 'playground.css')),
    readFile(join(folder, 'index.html')),
    readFile(join(root, 'console/page/bell.svg')),
    readFile(join(root, 'openapi.json')),
  ]);
  const pages = [
    ...sdk,
    { name: 'playground.js', contents: script },
    { name: 'playground.css', contents: styles },
    { name: 'bell.svg', contents: icon },
    { name: 'openapi.json', contents: openApi },
  ];
  return new Map([
    ['/', { type: types.html!, contents: html }],
    ...pages.map(({ name, contents }) => {
      const extension = name.slice(name.lastIndexOf('.') + 1);
      return [`/${name}`, { type: types[extension]!, contents }] as const;
    }),
  ]);
}

/** Bundles a script or style sheet with its imports. */
async function bundle(entryPoint: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [entryPoint],
    bundle: true,
    format: 'iife',
    target: 'es2022',
    sourcemap: 'inline',
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0]!.contents;
}
