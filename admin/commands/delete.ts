import type { Command } from 'commander';
import { countOf } from '../../contract/text/text.ts';
import type { RemovedItems } from '../../lambdas/store/project-removal.ts';
import { newCommand } from '../terminal/command-line.ts';
import {
  type DryRunOption,
  dryRunOption,
  dryRunText,
  projectIdArgument,
  type RunOnStack,
  type YesOption,
} from './command.ts';

export function deleteCommand(runOnStack: RunOnStack): Command {
  return newCommand(
    'delete',
    'Deletes a project with its subscriptions, notifications and usage.',
    ...['my-site --dry-run', 'my-site', 'my-site --yes --json'],
  )
    .addArgument(projectIdArgument())
    .addOption(dryRunOption())
    .option('--yes', 'delete without asking for confirmation')
    .action((projectId: string, { yes, dryRun }: YesOption & DryRunOption) =>
      runOnStack(async ({ registry, print, confirm, withBar }) => {
        const { subscribers } = await registry.usage(projectId);
        if (!dryRun) {
          const effect = `permanently deletes "${projectId}" and its ${countOf(subscribers, 'subscriber')}`;
          await confirm({ effect, expected: projectId, refusal: 'Nothing was deleted.', yes });
        }
        const removed = await withBar(dryRun ? 'counting' : 'deleting', subscribers, (update) => {
          const onProgress = ({ subscriptions }: RemovedItems) => update(subscriptions);
          return registry.remove(projectId, { dryRun, onProgress });
        });
        const { subscriptions, notifications } = removed;
        print(
          { projectId, dryRun, removed },
          `${dryRun ? 'Would delete' : 'Deleted'} "${projectId}" with ${countOf(subscriptions, 'subscription')} ` +
            `and ${countOf(notifications, 'notification')}.\n${dryRunText(dryRun)}`,
        );
      }),
    );
}
