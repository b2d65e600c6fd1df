import { EventEmitter, once } from 'node:events';
import { basename, join } from 'node:path';
import { type BuildOptions, build, context, type OutputFile, type Plugin } from 'esbuild';

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

/** The files of the console's page and the API description. They contain no data of a project. */
export interface PageFiles {
  /** By path. */
  readonly current: () => ReadonlyMap<string, ConsoleFile>;
  /** Resolves after the next build of a watched page. */
  readonly rebuilt: () => Promise<unknown>;
}

/** Responds to a watched page when it was built again. */
export const rebuiltPath = '/console/rebuilt';

/**
 * Builds the page.
 * @param root root directory of the repository.
 * @param watch builds it again when a file changes, until the signal aborts. Failed builds print their errors.
 */
export async function pageFiles(root: string, watch?: AbortSignal): Promise<PageFiles> {
  const folder = join(root, 'console/page');
  const options = {
    entryPoints: [
      { in: join(folder, 'index.html'), out: 'index' },
      { in: join(folder, 'main.tsx'), out: 'console' },
      { in: join(folder, 'console.css'), out: 'console' },
      { in: join(folder, 'bell.svg'), out: 'bell' },
      { in: join(root, 'openapi.json'), out: 'openapi' },
    ],
    outdir: '/',
    loader: { '.html': 'copy', '.svg': 'copy', '.json': 'copy' },
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    sourcemap: 'inline',
    write: false,
    logLevel: 'silent',
    footer: watch && { js: `fetch('${rebuiltPath}').then(() => location.reload(), () => {})` },
  } as const satisfies BuildOptions;
  let files = filesOf((await build(options)).outputFiles);
  const builds = new EventEmitter().setMaxListeners(0);
  if (watch !== undefined) {
    const keepFiles: Plugin = {
      name: 'keep-files',
      setup({ onEnd }) {
        onEnd(({ errors, outputFiles }) => {
          if (errors.length > 0) return;
          files = filesOf(outputFiles!);
          builds.emit('end');
        });
      },
    };
    const watched = await context({ ...options, logLevel: 'error', plugins: [keepFiles] });
    watch.addEventListener('abort', () => void watched.dispose());
    await watched.watch();
  }
  return { current: () => files, rebuilt: () => once(builds, 'end') };
}

function filesOf(outputFiles: readonly OutputFile[]): ReadonlyMap<string, ConsoleFile> {
  return new Map(
    outputFiles.map(({ path, contents }) => {
      const name = basename(path);
      return [name === 'index.html' ? '/' : `/${name}`, consoleFile(name, contents)];
    }),
  );
}
