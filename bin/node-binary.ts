import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

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
  if (await exists(binary)) return binary;
  const options = [
    '--no-audit',
    '--no-fund',
    '--no-save',
    '--ignore-scripts',
    '--prefix',
    directory,
  ];
  try {
    await promisify(execFile)('npm', ['install', ...options, `${name}@${major}`]);
  } catch {
    throw new Error(
      `Node ${major} cannot be installed: npm did not find or download ${name}@${major}.`,
    );
  }
  return binary;
}

const exists = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  );
