import { Command } from 'commander';
import type { RemovedItems } from '../project-removal.ts';
import { withExamples } from '../terminal/command-line.ts';
import { progressBar } from '../terminal/progress-bar.ts';
import { projectIdArgument, type RunOnStack } from './command.ts';
import { confirm } from './confirm.ts';
import { type DryRunOption, dryRunOption, dryRunText } from './dry-run.ts';
import { countOf } from './limits.ts';

export function deleteCommand(runOnStack: RunOnStack): Command {
  const command = new Command('delete')
    .description('Deletes a project with its subscriptions, notifications and usage.')
    .addArgument(projectIdArgument())
    .addOption(dryRunOption())
    .option('--yes', 'delete without asking for confirmation')
    .action((projectId: string, { yes, dryRun }: DeleteOptions) =>
      runOnStack(async ({ registry, terminal, print }) => {
        const { subscribers } = await registry.usage(projectId);
        const startBar = (label: string) => {
          const bar = progressBar(terminal.messages, label, subscribers);
          return {
            stop: bar.stop,
            onProgress: ({ subscriptions }: RemovedItems) => bar.update(subscriptions),
          };
        };
        if (dryRun) {
          const { onProgress, stop } = startBar('counting');
          const found = await registry.countItems(projectId, onProgress).finally(stop);
          const text = `Would delete ${itemsText(projectId, found)}.\n${dryRunText(dryRun)}`;
          return print({ projectId, dryRun, removed: found }, text);
        }
        if (!yes) {
          const effect = `permanently deletes "${projectId}" and its ${countOf(subscribers, 'subscriber')}`;
          await confirm({ effect, expected: projectId, refusal: 'Nothing was deleted.' }, terminal);
        }
        const { onProgress, stop } = startBar('deleting');
        const removed = await registry.remove(projectId, onProgress).finally(stop);
        print({ projectId, removed }, `Deleted ${itemsText(projectId, removed)}.\n`);
      }),
    );
  return withExamples(command, 'my-site --dry-run', 'my-site', 'my-site --yes --json');
}

interface DeleteOptions extends DryRunOption {
  readonly yes?: true;
}

function itemsText(projectId: string, { subscriptions, notifications }: RemovedItems): string {
  return `"${projectId}" with ${countOf(subscriptions, 'subscription')} and ${countOf(notifications, 'notification')}`;
}
