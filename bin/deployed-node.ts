/** Installs the Node version of the deployed functions, and prints the directory of its binary. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { nodeVersion } from '../contract/infrastructure/runtime.ts';

/** Kept until the next `npm ci`. */
const cache = 'node_modules/.cache/carillon';

/**
 * Installs the binary of a Node version from npm, once.
 * @param major for example 24: its newest release.
 * @returns the binary's absolute path.
 * @throws {Error} if it cannot be installed.
 */
export async function installNode(major: number): Promise<string> {
  const name = `node-${process.platform}-${process.arch}`;
  const directory = resolve(cache, `node-${major}`);
  const binary = join(directory, 'node_modules', name, 'bin', 'node');
  if (existsSync(binary)) return binary;
  const options = '--no-audit --no-fund --no-save --ignore-scripts --prefix'.split(' ');
  try {
    await promisify(execFile)('npm', ['install', ...options, directory, `${name}@${major}`]);
  } catch {
    throw new Error(
      `Node ${major} cannot be installed: npm did not find or download ${name}@${major}.`,
    );
  }
  return binary;
}

if (process.argv[1] === import.meta.filename) {
  void installNode(nodeVersion).then((binary) => console.log(dirname(binary)));
}
