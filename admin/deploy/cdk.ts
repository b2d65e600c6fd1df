import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { join, relative } from 'node:path';
import type { Template } from '../deployed-stack.ts';
import { CommandError } from '../errors.ts';
import type { Settings } from './settings-file.ts';

/** What is deployed, and with which CDK. */
export interface App {
  /** Where the CDK's command runs. It reads cdk.json there, and writes `cdk.out`. */
  readonly folder: string;
  /** The CDK's command: a script for Node.js. */
  readonly cdk: string;
  /**
   * The command that synthesizes.
   * @default the one in cdk.json
   */
  readonly command?: string;
}

/** What a deployment needs besides the package `carillon-aws`. */
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

/**
 * Runs a command of the CDK in this terminal: its questions and its progress are the operator's.
 * @throws {CommandError} if it fails.
 */
export async function runCdk({ cdk, folder }: App, ...args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [cdk, '--no-version-reporting', '--no-notices', ...args], {
    cwd: folder,
    env: { ...process.env, CDK_DISABLE_CLI_TELEMETRY: 'true' },
    stdio: 'inherit',
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new CommandError('cdk_failed', `"cdk ${args[0]}" failed, see above.`);
}

/** The folder of the synthesized app. */
export const output = 'cdk.out';

/** Synthesizes once: what is deployed is what was looked at. */
export async function synthesize(app: App, stack: string, settings: Settings): Promise<Template> {
  const context = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = app.command === undefined ? [] : ['--app', app.command];
  await runCdk(app, 'synth', '--quiet', '--output', output, ...command, ...context);
  return JSON.parse(await readFile(join(app.folder, output, `${stack}.template.json`), 'utf8'));
}

/** The stack with the CDK's bucket and roles. */
export interface Toolkit {
  /** The name under which the CDK's command would create or update it. */
  readonly stack: string;
  /** Distinguishes the resources of several such stacks in one account. */
  readonly qualifier: string;
  /** The parameter of SSM that has its version. It exists whatever the stack is called. */
  readonly parameter: string;
  /** Versions that the template refuses. */
  readonly refused: readonly string[];
}

/** The bootstrap stack that a template needs, found as the CDK's command does. */
export function toolkitOf({ Parameters, Rules }: Template, { folder }: App): Toolkit {
  const parameter = Parameters?.BootstrapVersion?.Default ?? '/cdk-bootstrap/hnb659fds/version';
  const [, qualifier = ''] = /^\/cdk-bootstrap\/(.+)\/version$/.exec(parameter) ?? [];
  const names = [join(folder, 'cdk.json'), join(homedir(), '.cdk.json')].map(toolkitNameIn);
  const [stack = 'CDKToolkit'] = [process.env.CDK_TOOLKIT_STACK_NAME, ...names].filter(Boolean);
  const rule = JSON.stringify(Rules?.CheckBootstrapVersion ?? {});
  const [, refused = '[]'] = /"Fn::Contains":\[(\[[^\]]*\])/.exec(rule) ?? [];
  return { stack, qualifier, parameter, refused: JSON.parse(refused) };
}

function toolkitNameIn(file: string): string | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).toolkitStackName;
  } catch {
    // There is no such file. The CDK's command says so if it is malformed.
    return undefined;
  }
}
