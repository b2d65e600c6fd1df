import { temporaryFolder } from '../fixtures/folder.ts';
import { runCommand } from '../fixtures/npm-project.ts';

/** A new folder with packages of npm, and what runs a command there. */
export async function installApp(packages: readonly string[], env = process.env) {
  const folder = temporaryFolder();
  const run = (command: string, ...args: string[]) =>
    runCommand(command, args, { cwd: folder.path, env });
  folder.write('package.json', '{ "private": true, "type": "module" }');
  const options = ['--ignore-scripts', '--save-exact', '--no-audit', '--no-fund'];
  await run('npm', 'install', ...options, ...packages);
  return { folder, run };
}
