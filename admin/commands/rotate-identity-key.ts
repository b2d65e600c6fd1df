import { randomBytes } from 'node:crypto';
import { Command, Option } from 'commander';
import { ProjectNotFound } from '../project-errors.ts';
import { withExamples } from '../terminal/command-line.ts';
import { paintFor } from '../terminal/terminal.ts';
import { projectIdArgument, type RunOnStack } from './command.ts';
import { confirm } from './confirm.ts';
import { readDuration } from './duration.ts';
import { formatTime, previousKeyEnd } from './project-text.ts';

interface RotateOptions {
  readonly grace: number;
  readonly yes?: true;
}

export function rotateIdentityKeyCommand(runOnStack: RunOnStack): Command {
  const command = new Command('rotate-identity-key')
    .description('Replaces the key with which your server signs user ids.')
    .addArgument(projectIdArgument())
    .addOption(
      new Option('--grace <duration>', 'keep the previous key valid for this long; 0: not at all')
        .argParser(readDuration)
        .default(readDuration('30d'), '30d'),
    )
    .option('--yes', 'do not ask if the key before the previous one would end early')
    .action((projectId: string, { grace: gracePeriodMs, yes }: RotateOptions) =>
      runOnStack(async ({ registry, terminal, print }) => {
        const project = await registry.find(projectId);
        if (!project) throw new ProjectNotFound(projectId);
        const { previousIdentityKeyUntil: until } = project;
        if (!yes && until !== undefined && Date.parse(until) > Date.now()) {
          const effect =
            `makes the previous identity key of "${projectId}" invalid now, ` +
            `which was to stay valid until ${formatTime(until)}`;
          const refusal = 'The identity key was not replaced.';
          await confirm({ effect, expected: projectId, refusal }, terminal);
        }
        const rotated = await registry.rotateIdentityKey(projectId, randomBytes, gracePeriodMs);
        const { identityKey } = rotated;
        const { previousIdentityKeyUntil } = rotated.project;
        print(
          { projectId, identityKey, previousIdentityKeyUntil },
          `The new identity key of "${projectId}":\n\n` +
            `  ${paintFor(terminal.output)('yellow', identityKey)}\n\n` +
            `Sign with it from now on. Signatures of the previous key stay valid ${previousKeyEnd(previousIdentityKeyUntil)}.\n`,
        );
      }),
    );
  return withExamples(command, 'my-site', 'my-site --grace 7d', 'my-site --grace 0 --yes --json');
}
