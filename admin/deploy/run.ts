import { Command, InvalidArgumentError } from 'commander';
import { deployName } from '../calls.ts';
import { readProjectId } from '../commands/command.ts';
import { openConversation } from '../terminal/ask.ts';
import { runCommandLine } from '../terminal/command-line.ts';
import { signInOnce } from './aws-account.ts';
import { type Deployment, deploy, type Options } from './deploy.ts';
import type { Settings } from './settings-file.ts';

export interface RunDependencies extends Omit<Deployment, 'app' | 'account' | 'conversation'> {
  /** @throws {CommandError} if the CDK is not installed. */
  readonly findApp: () => Deployment['app'];
}

/** @returns the exit code: 0, 1 if a step failed, 2 if the command was called wrongly. */
export function runDeploy(args: readonly string[], deps: RunDependencies): Promise<0 | 1 | 2> {
  const program = new Command(deployName)
    .description(
      'Deploys the service into your AWS account: asks for what must be set, shows what would change, deploys with the CDK, and creates the first project. Run it again to continue or to update.',
    )
    .option('--stage <stage>', 'deploy the stack Carillon-<stage> (default: Carillon)')
    .option('--region <region>', "AWS region (default: your profile's)")
    .option(
      '--set <name=value...>',
      `write settings to ${deps.settingsFile.name}, such as alarmEmail=none`,
      readSetting,
    )
    .option(
      '--project <projectId>',
      'id of the first project (with --yes: none without it)',
      readProjectId,
    )
    .option('--destroy', 'delete the stack, and say before what that deletes and what it keeps')
    .option('--yes', 'agree to everything')
    .action(async (options: Options) => {
      const { findApp, ...others } = deps;
      const { terminal, settingsFile } = deps;
      if (process.platform === 'win32') {
        terminal.messages.write(
          'Nobody has tried this on Windows. If a step fails, use WSL or AWS CloudShell.\n',
        );
      }
      const app = findApp();
      const region = options.region ?? (await settingsFile.region());
      const conversation = openConversation(terminal, options.yes === true);
      const account = await signInOnce({ ...(region !== undefined && { region }) }, (device) =>
        conversation.ask(`Code of the MFA device ${device}: `, 'credentials of a session'),
      );
      const { accountId, caller } = account;
      terminal.output.write(`Account ${accountId} in ${account.region}, as ${caller}.\n`);
      await deploy(options, { ...others, app, account, conversation });
    });
  return runCommandLine(program, args, deps.terminal);
}

/** Adds `name=value` to the settings before it. */
function readSetting(text: string, before: Settings = {}): Settings {
  const [, name, value] = /^(\w+)=(.+)$/s.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('Use name=value.');
  return { ...before, [name]: value };
}
