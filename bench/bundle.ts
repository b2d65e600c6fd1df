import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';

export interface Bundles {
  /** Path of an entry's bundle and its weight in bytes. */
  of(entry: string): Promise<{ readonly file: string; readonly bytes: number }>;
  remove(): Promise<void>;
}

/**
 * Bundles programs of the benchmark as the functions are bundled. A loader that compiles at run
 * time would add work to every closure, and to some senders more than to others.
 */
export async function bundles(): Promise<Bundles> {
  const directory = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
  const made = new Map<string, Promise<{ file: string; bytes: number }>>();
  const make = async (entry: string) => {
    const file = join(directory, entry.replaceAll('/', '-').replace(/\.ts$/, '.mjs'));
    const { metafile } = await build({
      entryPoints: [entry],
      outfile: file,
      bundle: true,
      minify: true,
      metafile: true,
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
    return { file, bytes: Object.values(metafile.outputs)[0]!.bytes };
  };
  return {
    of(entry) {
      const bundle = made.get(entry) ?? make(entry);
      made.set(entry, bundle);
      return bundle;
    },
    remove: () => rm(directory, { recursive: true }),
  };
}
