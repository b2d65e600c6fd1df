import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import { withExamples } from '../terminal/command-line.ts';
import { progressBar } from '../terminal/progress-bar.ts';
import { projectIdArgument, type RunOnStack } from './command.ts';
import { confirm } from './confirm.ts';
import { countOf } from './limits.ts';

export function deleteCommand(runOnStack: RunOnStack): Command {
  const command = new Command('delete')
    .description('Deletes a project with its subscriptions, notifications and usage.')
    .addArgument(projectIdArgument())
    .option('--yes', 'delete without asking for confirmation')
    .action((projectId: string, { yes }: { readonly yes?: true }) =>
      runOnStack(async ({ registry, terminal, print }) => {
        const { subscribers } = await registry.usage(projectId);
        if (!yes) {
          const effect = `permanently deletes "${projectId}" and its ${countOf(subscribers, 'subscriber')}`;
          await confirm({ effect, expected: projectId, refusal: 'Nothing was deleted.' }, terminal);
        }
        const bar = progressBar(terminal.messages, 'deleting', subscribers);
        const removed = await registry
          .remove(projectId, randomBytes, ({ subscriptions }) => bar.update(subscriptions))
          .finally(() => bar.stop());
        print(
          { projectId, removed },
          `Deleted "${projectId}" with ${countOf(removed.subscriptions, 'subscription')} and ` +
            `${countOf(removed.notifications, 'notification')}.\n`,
        );
      }),
    );
  return withExamples(command, 'my-site', 'my-site --yes --json');
}
