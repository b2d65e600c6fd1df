import { createHash, type Hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { type SynthesisOptions, synthesize } from './synthesize.ts';

/** Everything that an assembly depends on. */
export interface AssemblyInputs {
  /** Root directory of the repository. */
  readonly root: string;
  readonly context: Readonly<Record<string, unknown>>;
  /** Parent directory of the assembly. Its source maps contain paths relative to it. */
  readonly parent: string;
  readonly nodeVersion: string;
}

/** Folders whose files are all bundled or run. */
const folders = ['bin', 'console', 'contract', 'lambdas', 'lib', 'sdk/common', 'sdk/server'];

const files = [
  'cdk.json',
  'aws-emulator/template/synthesize.ts',
  // The installed versions; `package-lock.json` has the required ones.
  'node_modules/.package-lock.json',
  'package-lock.json',
  'package.json',
  'tsconfig.json',
];

export interface CacheOptions extends SynthesisOptions {
  /** Is called before a synthesis, if no cached assembly can be used. */
  readonly onSynthesis?: (() => void) | undefined;
  /** Root directory of the repository. Default: the working directory. */
  readonly root?: string;
}

/**
 * Writes the stack's assembly into the directory. If no input has changed, it is a copy of the cached
 * assembly. Not the cached one itself: another start with other inputs deletes that, while a running
 * stack may still load its bundles.
 */
export async function provideAssembly({
  onSynthesis = () => {},
  root = process.cwd(),
  ...options
}: CacheOptions): Promise<void> {
  const { directory, context = {} } = options;
  const inputs = { root, context, parent: dirname(directory), nodeVersion: process.version };
  const digest = await digestOf(inputs);
  const cached = join(root, '.carillon/assemblies', digest);
  if (existsSync(cached)) return cp(cached, directory, { recursive: true });
  onSynthesis();
  await synthesize(options);
  // If the inputs changed during the synthesis, their digest is not that of the assembly.
  if ((await digestOf(inputs)) === digest) await store(directory, cached);
}

/** A digest of all inputs. */
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
  // The length separates a file's content from the next file's name.
  hash.update(`${JSON.stringify(file)} ${content.length}\n`).update(content);
}

/** Prefix of incomplete copies. */
const unfinishedPrefix = 'unfinished-';

/** Stores a copy atomically and deletes the other cached assemblies. */
async function store(directory: string, cached: string): Promise<void> {
  const folder = dirname(cached);
  await mkdir(folder, { recursive: true });
  const unfinished = await mkdtemp(join(folder, unfinishedPrefix));
  await cp(directory, unfinished, { recursive: true });
  await rename(unfinished, cached).catch(async (error) => {
    // Another start may have stored the same assembly in the meantime.
    if (!existsSync(cached)) throw error;
    await rm(unfinished, { recursive: true });
  });
  for (const name of await readdir(folder)) {
    if (name === basename(cached) || name.startsWith(unfinishedPrefix)) continue;
    await rm(join(folder, name), { recursive: true, force: true });
  }
}
