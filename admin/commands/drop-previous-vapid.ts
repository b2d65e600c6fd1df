import { Command } from 'commander';
import { realWaiting } from '../plan-change.ts';
import { withExamples } from '../terminal/command-line.ts';
import { projectIdArgument, type RunOnStack } from './command.ts';
import { formatCount } from './limits.ts';

export function dropPreviousVapidCommand(runOnStack: RunOnStack): Command {
  const command = new Command('drop-previous-vapid')
    .description('Drops the application server key from before the last rotation.')
    .addArgument(projectIdArgument())
    .option('--force', 'also if subscribers still use it: they are removed')
    .action((projectId: string, { force }: { readonly force?: true }) =>
      runOnStack(async ({ registry, terminal, print }) => {
        const removed = await registry.dropPreviousVapid(projectId, {
          isForced: force === true,
          waiting: {
            ...realWaiting,
            onWait: (ms) =>
              terminal.messages.write(
                `The key is dropped. Waiting ${ms / 1000} s, until all functions have forgotten it.\n`,
              ),
          },
        });
        print(
          { projectId, removed: { subscriptions: removed } },
          `Dropped the previous application server key of "${projectId}". ` +
            `Subscribers removed with it: ${formatCount(removed)}.\n`,
        );
      }),
    );
  return withExamples(command, 'my-site', 'my-site --force --json');
}
