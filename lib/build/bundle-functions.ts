import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { nodeVersion } from '../../contract/infrastructure/runtime.ts';
import { type FunctionName, functionNames } from '../../contract/wire/routes.ts';
import { type Assets, assetsFile } from '../service-function.ts';

/**
 * Bundles every function into a folder of its name.
 * @param root of the repository.
 * @param target absolute; must exist.
 */
export async function bundleFunctions(root: string, target: string): Promise<void> {
  const entries = functionNames.map(async (name) => {
    const folder = join(target, name);
    await Promise.all([
      bundle(root, name, folder),
      name === 'console' ? buildPage(root, join(folder, 'page')) : undefined,
    ]);
    return [name, { path: name, hash: await hashOf(folder) }] as const;
  });
  const assets = Object.fromEntries(await Promise.all(entries)) as Assets;
  await writeFile(join(target, assetsFile), `${JSON.stringify(assets, null, 2)}\n`);
}

async function bundle(root: string, name: FunctionName, folder: string): Promise<void> {
  const file = 'index.js';
  const { outputFiles } = await build({
    // Sources are named by their paths in the repository, so that the bytes do not depend on the folder.
    absWorkingDir: root,
    outfile: file,
    entryPoints: [`lambdas/${folderOf(name)}/handler.ts`],
    bundle: true,
    platform: 'node',
    target: `node${nodeVersion}`,
    // Importing node:http as an ES module makes Node read all its exports, and so load its `fetch`: 20 ms of a
    // cold start (measured). `require` does not.
    format: 'cjs',
    mainFields: ['module', 'main'],
    minify: true,
    // The log's stack traces point to the sources.
    sourcemap: true,
    sourcesContent: false,
    inject: [join(root, 'lambdas/stack-traces.ts')],
    // esbuild exports getters. A layer that traces requests replaces the handler, so it must be a plain property.
    footer: { js: 'module.exports={...module.exports};' },
    // DynamoDB has no event streams. The SDK's import() of their code makes esbuild put a function around each
    // module that the code shares with the rest: 7 ms of a cold start (measured).
    external: ['@smithy/core/event-streams'],
    alias: {
      '@aws-sdk/credential-provider-node': join(root, 'lambdas/store/lambda-credentials.ts'),
    },
    write: false,
    logLevel: 'warning',
  });
  await mkdir(folder, { recursive: true });
  for (const { path, contents } of outputFiles) {
    await writeFile(join(folder, path.endsWith('.map') ? `${file}.map` : file), contents);
  }
}

/** The console's page. */
async function buildPage(root: string, outDir: string): Promise<void> {
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const config = join(root, 'console/vite.config.ts');
  const parameters = ['build', '--config', config, '--outDir', outDir];
  // Otherwise Vite builds what the shell asks for, such as React for development.
  const env = { ...process.env, NODE_ENV: 'production' };
  await promisify(execFile)(process.execPath, [vite, ...parameters], { env });
}

/** SHA-256 of the names and contents of all files in a folder. */
async function hashOf(folder: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of filesIn(folder)) {
    const content = await readFile(file);
    hash.update(`${file.slice(folder.length)} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}

function folderOf(name: FunctionName): string {
  return name.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
}

/** The paths of all files in a folder and its folders, in one order on every machine. */
export function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
}
