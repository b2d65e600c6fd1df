import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Makes the reference page from openapi.json, which takes about a second. It contains its scripts.
 * @param root root directory of the repository.
 * @throws {Error} if the document cannot be read.
 */
export async function referencePage(root: string): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-docs-'));
  try {
    const file = join(folder, 'docs.html');
    const redocly = join(root, 'node_modules/@redocly/cli/bin/cli.js');
    // Its settings are in redocly.yaml.
    const parameters = ['build-docs', 'openapi.json', '--inlineBundle', '--output', file];
    await promisify(execFile)(process.execPath, [redocly, ...parameters], { cwd: root });
    return await readFile(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}
