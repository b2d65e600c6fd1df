import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Makes the reference page from openapi.json, which takes about a second. It contains its scripts.
 * @param root root directory of the repository.
 * @param baseUrl address of the service that the page names.
 * @throws {Error} if the document cannot be read.
 */
export async function referencePage(root: string, baseUrl: string): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-docs-'));
  try {
    const [document, file] = [join(folder, 'openapi.json'), join(folder, 'docs.html')];
    const description = JSON.parse(await readFile(join(root, 'openapi.json'), 'utf8'));
    await writeFile(document, JSON.stringify({ ...description, servers: [{ url: baseUrl }] }));
    const redocly = join(root, 'node_modules/@redocly/cli/bin/cli.js');
    // Its settings are in redocly.yaml.
    const parameters = ['build-docs', document, '--inlineBundle', '--output', file];
    await promisify(execFile)(process.execPath, [redocly, ...parameters], { cwd: root });
    const page = await readFile(file, 'utf8');
    // Redocly's logo, which the policy of the page would block. An image that fails is left out.
    return Buffer.from(page.replaceAll(/https:\/\/cdn\.redoc\.ly\/[\w./-]+/g, 'data:,'));
  } finally {
    await rm(folder, { recursive: true });
  }
}
