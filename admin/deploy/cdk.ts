import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { CommandError } from '../errors.ts';

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
