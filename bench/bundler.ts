import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';

export type Bundler = Awaited<ReturnType<typeof createBundler>>;

/**
 * Bundles the programs of a benchmark like the functions. A loader that compiles at run time would
 * make each closure slower, and so some senders more than others.
 */
export async function createBundler() {
  const directory = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
  const bundles = new Map<string, Promise<string>>();
  return {
    /** Bundles a program, once. @returns the file. */
    bundle(entry: string): Promise<string> {
      const bundle = bundles.get(entry) ?? buildBundle(entry, directory);
      bundles.set(entry, bundle);
      return bundle;
    },
    /** Deletes the bundles. */
    remove: () => rm(directory, { recursive: true }),
  };
}

async function buildBundle(entry: string, directory: string): Promise<string> {
  const file = join(directory, entry.replaceAll('/', '-').replace(/\.ts$/, '.mjs'));
  await build({
    entryPoints: [entry],
    outfile: file,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    mainFields: ['module', 'main'],
    banner: {
      js:
        "import { createRequire as nodeCreateRequire } from 'node:module';" +
        'const require = nodeCreateRequire(import.meta.url);',
    },
    logLevel: 'error',
  });
  return file;
}
