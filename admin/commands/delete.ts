import type { Command } from 'commander';
import { countOf } from '../../contract/text/text.ts';
import type { RemovedItems } from '../store/project-removal.ts';
import { dryRunOption, projectCommand, type RunOnStack } from './command.ts';

export function deleteCommand(runOnStack: RunOnStack): Command {
  return projectCommand(
    'delete',
    'Deletes a project with its subscriptions, notifications and usage.',
    ...['my-site --dry-run', 'my-site', 'my-site --yes --json'],
  )
    .option(...dryRunOption)
    .option('--yes', 'delete without asking for confirmation')
    .action((projectId: string) =>
      runOnStack(async ({ registry, dryRun, print, confirm, withBar }) => {
        const { subscribers } = await registry.usage(projectId);
        if (!dryRun) {
          // What is left of an interrupted removal has no counter.
          const isWhole = await registry.find(projectId);
          const what = isWhole ? `its ${countOf(subscribers, 'subscriber')}` : 'what is left of it';
          const effect = `permanently deletes "${projectId}" and ${what}`;
          await confirm({ effect, expected: projectId, refusal: 'Nothing was deleted.' });
        }
        const removed = await withBar(dryRun ? 'counting' : 'deleting', subscribers, (update) => {
          const onProgress = ({ subscriptions }: RemovedItems) => update(subscriptions);
          return registry.remove(projectId, { dryRun, onProgress });
        });
        const { subscriptions, notifications } = removed;
        print(
          { projectId, dryRun, removed },
          `${dryRun ? 'Would delete' : 'Deleted'} "${projectId}" with ${countOf(subscriptions, 'subscription')} ` +
            `and ${countOf(notifications, 'notification')}.\n`,
        );
      }),
    );
}
