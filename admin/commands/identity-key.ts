import { Command } from 'commander';
import { withExamples } from '../terminal/command-line.ts';
import { projectIdArgument, type RunOnStack } from './command.ts';

export function identityKeyCommand(runOnStack: RunOnStack): Command {
  const command = new Command('identity-key')
    .description('Prints the key with which your server signs user ids.')
    .addArgument(projectIdArgument())
    .action((projectId: string) =>
      runOnStack(async ({ registry, print }) => {
        const identityKey = await registry.identityKey(projectId);
        print({ projectId, identityKey }, `${identityKey}\n`);
      }),
    );
  return withExamples(command, 'my-site', 'my-site --local --json');
}
