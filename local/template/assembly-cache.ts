import { createHash, type Hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { type SynthesisOptions, synthesize } from './synthesize.ts';

/** All that an assembly depends on. */
export interface AssemblyInputs {
  /** The repository. */
  readonly root: string;
  readonly context: Readonly<Record<string, unknown>>;
  /** Where the assembly goes: its source maps name the sources relative to their own place. */
  readonly parent: string;
  readonly nodeVersion: string;
}

/** Sources that are bundled or run, whole. */
const folders = ['bin', 'contract', 'lambdas', 'lib'];

const files = [
  'cdk.json',
  'local/template/synthesize.ts',
  // The versions that are installed, and those that should be.
  'node_modules/.package-lock.json',
  'package-lock.json',
  'package.json',
  'tsconfig.json',
];

export interface CacheOptions extends SynthesisOptions {
  /** Called where nothing can be reused, before it is synthesized. */
  readonly onSynthesis?: (() => void) | undefined;
  /** The repository. */
  readonly root?: string;
}

/**
 * Writes the stack's assembly into the directory: a copy of the last one, where none of its inputs
 * has changed, else a new one. It is a copy because the kept one is removed by the next start that
 * has other inputs, while a running stack still loads its bundles.
 */
export async function provideAssembly({
  onSynthesis = () => {},
  root = process.cwd(),
  ...options
}: CacheOptions): Promise<void> {
  const { directory, context = {} } = options;
  const inputs = { root, context, parent: dirname(directory), nodeVersion: process.version };
  const digest = await digestOf(inputs);
  const kept = join(root, '.carillon/assemblies', digest);
  if (existsSync(kept)) return cp(kept, directory, { recursive: true });
  onSynthesis();
  await synthesize(options);
  // Of inputs that changed meanwhile, nobody knows which ones the assembly was made of.
  if ((await digestOf(inputs)) === digest) await keep(directory, kept);
}

/** A digest that differs where anything that could change the assembly does. */
export async function digestOf(inputs: AssemblyInputs): Promise<string> {
  const { root, context, parent, nodeVersion } = inputs;
  const hash = createHash('sha256').update(JSON.stringify([root, context, parent, nodeVersion]));
  const found = await Promise.all(folders.map((folder) => filesIn(root, folder)));
  for (const file of [...files, ...found.flat()]) await addFile(hash, root, file);
  return hash.digest('hex');
}

async function filesIn(root: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

async function addFile(hash: Hash, root: string, file: string): Promise<void> {
  const content = await readFile(join(root, file));
  // With its length, so that no content can pass for the next file's name.
  hash.update(`${JSON.stringify(file)} ${content.length}\n`).update(content);
}

/** Of copies that are being made. */
const unfinishedPrefix = 'unfinished-';

/** Keeps a copy, complete or not at all, in place of those kept before. */
async function keep(directory: string, kept: string): Promise<void> {
  const folder = dirname(kept);
  await mkdir(folder, { recursive: true });
  const unfinished = await mkdtemp(join(folder, unfinishedPrefix));
  await cp(directory, unfinished, { recursive: true });
  await rename(unfinished, kept).catch(async (error) => {
    // Another start may have kept the same one since.
    if (!existsSync(kept)) throw error;
    await rm(unfinished, { recursive: true });
  });
  for (const name of await readdir(folder)) {
    if (name === basename(kept) || name.startsWith(unfinishedPrefix)) continue;
    await rm(join(folder, name), { recursive: true, force: true });
  }
}
