import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import { withExamples } from '../terminal/command-line.ts';
import { paintFor } from '../terminal/terminal.ts';
import { projectIdArgument, type RunOnStack } from './command.ts';
import { readDuration } from './duration.ts';
import { formatTime } from './project-text.ts';

export function rotateKeyCommand(runOnStack: RunOnStack): Command {
  const command = new Command('rotate-key')
    .description("Replaces a project's secret key.")
    .addArgument(projectIdArgument())
    .option(
      '--grace <duration>',
      'keep the previous key valid for this long, such as 30m, 24h or 7d (default: not at all)',
      readDuration,
    )
    .action((projectId: string, { grace: gracePeriodMs }: { readonly grace?: number }) =>
      runOnStack(async ({ registry, terminal, print }) => {
        const rotated = await registry.rotateKey(projectId, randomBytes, gracePeriodMs);
        const { secretKey } = rotated;
        const { previousKeyUntil } = rotated.project;
        const paint = paintFor(terminal.output);
        // The functions cache projects; see `projectCacheMs` in lambdas/store/projects.ts.
        const end = previousKeyUntil
          ? `until ${formatTime(previousKeyUntil)}`
          : 'for up to 30 seconds';
        print(
          // `secretApiKey` is its former name, printed for one more version.
          { projectId, secretKey, secretApiKey: secretKey, previousKeyUntil },
          `The new secret key of "${projectId}", printed only once:\n\n` +
            `  ${paint('yellow', secretKey)}\n\nThe previous key stays valid ${end}.\n`,
        );
      }),
    );
  return withExamples(command, 'my-site', 'my-site --grace 24h');
}
