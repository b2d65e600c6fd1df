import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** Kept until the next `npm ci`. */
const cache = 'node_modules/.cache/carillon';

/**
 * Installs a package of PyPI, once, into a virtual environment of its own.
 * @param requirement such as `cfn-lint==1.58.0`.
 * @returns the folder of its programs. Undefined, after a line that begins with `NOT CHECKED`, if it cannot be installed.
 */
export async function installPythonTool(requirement: string): Promise<string | undefined> {
  const environment = resolve(cache, requirement);
  const programs = join(environment, 'bin');
  const run = promisify(execFile);
  // The last file of the installation.
  const isInstalled = join(environment, 'installed');
  if (existsSync(isInstalled)) return programs;
  try {
    await run('python3', ['-m', 'venv', '--clear', environment]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', requirement];
    await run(join(programs, 'python'), pip);
    await run('touch', [isInstalled]);
    return programs;
  } catch (error) {
    const [reason] = (error as Error).message.split('\n').slice(-2);
    console.log(`NOT CHECKED: ${requirement} cannot be installed: ${reason}`);
    return undefined;
  }
}
