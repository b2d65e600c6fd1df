import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { CommandError } from '../errors.ts';
import type { App } from './cdk.ts';

/** What a deployment needs besides this package. */
const needed = { 'aws-cdk': 'bin/cdk', 'aws-cdk-lib': 'package.json', constructs: 'package.json' };

/**
 * The app of the installed package, and the CDK's command that is installed beside it.
 * @param program of the app.
 * @throws {CommandError} naming the packages that are missing.
 */
export function installedApp(folder: string, program: string): App {
  const { resolve } = createRequire(join(folder, 'carillon.json'));
  const found = new Map<string, string>();
  for (const [name, path] of Object.entries(needed)) {
    try {
      found.set(name, resolve(`${name}/${path}`));
    } catch {
      // It is not installed.
    }
  }
  const missing = Object.keys(needed).filter((name) => !found.has(name));
  if (missing.length > 0) {
    const message = `The CDK is not installed in ${folder}. Run: npm install ${missing.join(' ')}`;
    throw new CommandError('cdk_missing', message);
  }
  // The CDK splits the command at blanks, which a relative path seldom has.
  return { folder, cdk: found.get('aws-cdk')!, command: `node ${relative(folder, program)}` };
}
