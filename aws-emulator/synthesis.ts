import { spawn } from 'node:child_process';
import { createHash, type Hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { type Assembly, readAssembly } from './template.ts';

export interface SynthesisOptions {
  /** Runs the CDK app in the working directory. */
  readonly command: readonly [program: string, ...parameters: string[]];
  /** Output directory of the cloud assembly. */
  readonly directory: string;
  /** Settings of the CDK app, like `context` in cdk.json. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a CDK app as the CDK CLI does: with two environment variables. This avoids the CLI's
 * start-up time of about a second.
 * @throws {Error} with the app's message if it fails.
 */
export async function synthesize(options: SynthesisOptions): Promise<Assembly> {
  const { directory, context, signal } = options;
  const [program, ...parameters] = options.command;
  const child = spawn(program, parameters, {
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal && { signal }),
    // No other variables, so that the assembly does not depend on the environment.
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      TMPDIR: process.env.TMPDIR,
      CDK_OUTDIR: directory,
      CDK_CONTEXT_JSON: JSON.stringify({
        // Writes `aws:asset:path`, the path of a function's bundle.
        'aws:cdk:enable-asset-metadata': true,
        ...context,
      }),
    },
  });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', resolve);
  });
  if (code !== 0) throw new Error(`The CDK app failed: ${firstMessage(output)}`);
  return readAssembly(directory);
}

/** The message of a thrown error, or else the first line that the app printed, without the app's name. */
function firstMessage(output: string): string {
  const thrown = /^(?:[A-Z]\w*)?Error(?: \[\w+\])?: (.+)$/m.exec(output)?.[1];
  const [firstLine = ''] = output.trim().split('\n', 1);
  return thrown ?? firstLine.replace(/^[a-z]+: /, '');
}

/** Everything that an assembly depends on. */
export interface AssemblyInputs {
  /** Root directory of the app. */
  readonly root: string;
  /** Files that are bundled or run, and folders of such files, in the root directory. */
  readonly sources: readonly string[];
  readonly context: Readonly<Record<string, unknown>>;
  /** Parent directory of the assembly. Its source maps contain paths relative to it. */
  readonly parent: string;
  readonly nodeVersion: string;
}

export interface CacheOptions extends SynthesisOptions, Pick<AssemblyInputs, 'root' | 'sources'> {
  /** Folder of the cached assembly. */
  readonly cache: string;
  /** Is called before a synthesis, if no cached assembly can be used. */
  readonly onSynthesis?: (() => void) | undefined;
}

/**
 * Writes an app's assembly into the directory. If no input has changed, it is a copy of the cached
 * assembly. Not the cached one itself: another start with other inputs deletes that, while a running
 * app may still load its bundles.
 */
export async function provideAssembly(options: CacheOptions): Promise<void> {
  const { directory, context = {}, root, sources, cache, onSynthesis } = options;
  const parent = dirname(directory);
  const inputs = { root, sources, context, parent, nodeVersion: process.version };
  const digest = await digestOf(inputs);
  const cached = join(cache, digest);
  if (existsSync(cached)) return cp(cached, directory, { recursive: true });
  onSynthesis?.();
  await synthesize(options);
  // If the inputs changed during the synthesis, their digest is not that of the assembly.
  if ((await digestOf(inputs)) === digest) await store(directory, cached);
}

/** A digest of all inputs. */
export async function digestOf({ sources, ...inputs }: AssemblyInputs): Promise<string> {
  const { root, context, parent, nodeVersion } = inputs;
  const hash = createHash('sha256').update(JSON.stringify([root, context, parent, nodeVersion]));
  for (const source of sources) {
    for (const file of await filesIn(root, source)) await addFile(hash, root, file);
  }
  return hash.digest('hex');
}

/** The file, or all files in the folder. */
async function filesIn(root: string, source: string): Promise<string[]> {
  const path = join(root, source);
  if ((await stat(path)).isFile()) return [source];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
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
