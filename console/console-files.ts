import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

/** One file that the console serves. */
export interface ConsoleFile {
  /** Media type. */
  readonly type: string;
  readonly contents: Uint8Array;
}

/**
 * The files of the console's page, by path. They contain no data of a project.
 * @param root root directory of the repository.
 */
export async function consoleFiles(root: string): Promise<ReadonlyMap<string, ConsoleFile>> {
  const folder = join(root, 'console/page');
  const [script, styles, html, icon] = await Promise.all([
    bundle(join(folder, 'main.tsx')),
    bundle(join(folder, 'console.css')),
    readFile(join(folder, 'index.html')),
    readFile(join(folder, 'bell.svg')),
  ]);
  return new Map([
    ['/', { type: 'text/html; charset=utf-8', contents: html }],
    ['/console.js', { type: 'text/javascript; charset=utf-8', contents: script }],
    ['/console.css', { type: 'text/css; charset=utf-8', contents: styles }],
    ['/bell.svg', { type: 'image/svg+xml', contents: icon }],
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
