import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import { ProjectNotFound } from '../project-errors.ts';
import { withExamples } from '../terminal/command-line.ts';
import { paintFor } from '../terminal/terminal.ts';
import { CommandError, projectIdArgument, type RunOnStack } from './command.ts';
import { confirm } from './confirm.ts';
import { readDuration } from './duration.ts';
import { formatTime, previousKeyEnd } from './project-text.ts';

interface RotateOptions {
  readonly grace?: number;
  readonly revoke?: true;
  readonly yes?: true;
}

export function rotateKeyCommand(runOnStack: RunOnStack): Command {
  const command = new Command('rotate-key')
    .description("Replaces a project's secret key.")
    .addArgument(projectIdArgument())
    .option(
      '--grace <duration>',
      'keep the previous key valid for this long, such as 30m, 24h or 7d (default: not at all)',
      readDuration,
    )
    .option('--revoke', 'end an earlier key now that was to stay valid for longer')
    .option('--yes', 'without --grace: end the present key without asking')
    .action((projectId: string, { grace: gracePeriodMs, revoke, yes }: RotateOptions) =>
      runOnStack(async ({ registry, terminal, print }) => {
        const project = await registry.find(projectId);
        if (!project) throw new ProjectNotFound(projectId);
        const { previousKeyUntil: until } = project;
        if (!revoke && until !== undefined && Date.parse(until) > Date.now()) {
          throw new CommandError(
            'grace_period',
            `The previous key of "${projectId}" is to stay valid until ${formatTime(until)}, and would end now. Wait, or use --revoke.`,
          );
        }
        if (!yes && gracePeriodMs === undefined) {
          const effect = `makes the present secret key of "${projectId}" invalid within 30 seconds; with --grace 24h it would stay valid for a day`;
          const refusal = 'The secret key was not replaced.';
          await confirm({ effect, expected: projectId, refusal }, terminal);
        }
        const rotated = await registry.rotateKey(projectId, randomBytes, gracePeriodMs);
        const { secretKey } = rotated;
        const { previousKeyUntil } = rotated.project;
        const paint = paintFor(terminal.output);
        print(
          // `secretApiKey` is its former name, printed for one more version.
          { projectId, secretKey, secretApiKey: secretKey, previousKeyUntil },
          `The new secret key of "${projectId}", printed only once:\n\n` +
            `  ${paint('yellow', secretKey)}\n\nThe previous key stays valid ${previousKeyEnd(previousKeyUntil)}.\n` +
            (previousKeyUntil === undefined
              ? ''
              : 'The query "Use of previous secret keys" in CloudWatch Logs Insights shows who still uses it.\n'),
        );
      }),
    );
  return withExamples(command, 'my-site --grace 24h', 'my-site --yes', 'my-site --revoke --yes');
}
