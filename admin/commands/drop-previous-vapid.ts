import { Command } from 'commander';
import { withExamples } from '../terminal/command-line.ts';
import { realWaiting } from '../vapid-rotation.ts';
import { projectIdArgument, type RunOnStack } from './command.ts';
import { confirm } from './confirm.ts';
import { formatCount } from './limits.ts';

interface DropOptions {
  readonly force?: true;
  readonly yes?: true;
}

export function dropPreviousVapidCommand(runOnStack: RunOnStack): Command {
  const command = new Command('drop-previous-vapid')
    .description('Drops the application server key from before the last rotation.')
    .addArgument(projectIdArgument())
    .option('--force', 'also if subscribers still use it: they are removed, after asking')
    .option('--yes', 'with --force: remove without asking for confirmation')
    .action((projectId: string, { force, yes }: DropOptions) =>
      runOnStack(async ({ registry, terminal, print }) => {
        if (force && !yes) {
          const project = await registry.find(projectId);
          const users = project ? await registry.countPreviousPair(project) : 0;
          const effect =
            `permanently deletes the subscribers of "${projectId}" that use its previous ` +
            `application server key: ${formatCount(users)}`;
          const refusal = 'Nothing was deleted.';
          if (users > 0) await confirm({ effect, expected: projectId, refusal }, terminal);
        }
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
  return withExamples(command, 'my-site', 'my-site --force --yes --json');
}
