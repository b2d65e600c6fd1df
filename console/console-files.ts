import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

/** One file that the console serves. */
export interface ConsoleFile {
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

/** @param name whose extension tells the media type. */
export function consoleFile(name: string, contents: Uint8Array): ConsoleFile {
  return { type: types[name.slice(name.lastIndexOf('.') + 1)]!, contents };
}

/**
 * The files of the console's page and the API description, by path. They contain no data of a project.
 * @param root root directory of the repository.
 */
export async function consoleFiles(root: string): Promise<ReadonlyMap<string, ConsoleFile>> {
  const folder = join(root, 'console/page');
  const [html, script, styles, icon, openApi] = await Promise.all([
    readFile(join(folder, 'index.html')),
    bundle(join(folder, 'main.tsx')),
    bundle(join(folder, 'console.css')),
    readFile(join(folder, 'bell.svg')),
    readFile(join(root, 'openapi.json')),
  ]);
  return new Map([
    ['/', consoleFile('index.html', html)],
    ['/console.js', consoleFile('console.js', script)],
    ['/console.css', consoleFile('console.css', styles)],
    ['/bell.svg', consoleFile('bell.svg', icon)],
    ['/openapi.json', consoleFile('openapi.json', openApi)],
  ]);
}

/** Bundles a script or style sheet with its imports. */
async function bundle(entryPoint: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [entryPoint],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    sourcemap: 'inline',
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0]!.contents;
}
