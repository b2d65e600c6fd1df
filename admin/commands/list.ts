import type { Command } from 'commander';
import { countText } from '../../contract/count-text.ts';
import { newCommand } from '../terminal/command-line.ts';
import { printable } from '../terminal/printable.ts';
import { table, truncate } from '../terminal/table.ts';
import type { RunOnStack } from './command.ts';
import { describeLimit } from './project-options.ts';
import { formatTime, type ProjectView, projectView } from './project-view.ts';

export function listCommand(runOnStack: RunOnStack): Command {
  return newCommand(
    'list',
    'Lists all projects with their usage and limits.',
    ...['', '--region eu-west-1 --json'],
  ).action(() =>
    runOnStack(async ({ registry, settings, paint, print, next }) => {
      const views: ProjectView[] = [];
      for await (const project of registry.list()) {
        views.push(projectView(project, settings, await registry.usage(project.projectId)));
      }
      views.sort((one, other) => (one.projectId < other.projectId ? -1 : 1));
      print(
        views,
        views.length === 0
          ? `No projects. Create one with: ${next('create <projectId>')}\n`
          : table(columns, views.map(row), paint),
      );
    }),
  );
}

const columns = [
  { title: 'project' },
  { title: 'name' },
  { title: 'subscribers', align: 'right' },
  { title: 'of' },
  { title: 'sends this month', align: 'right' },
  { title: 'of' },
  { title: 'rate limit', align: 'right' },
  { title: 'user ids' },
  { title: 'created' },
] as const;

/** `show` prints names in full. */
function row({ projectId, name, usage, limits, userIds, createdAt }: ProjectView): string[] {
  return [
    projectId,
    truncate(printable(name), 40),
    countText(usage.subscribers),
    describeLimit(limits.subscriberCap),
    countText(usage.sends),
    describeLimit(limits.monthlySendCap),
    describeLimit(limits.rateLimitPerMinute),
    userIds,
    formatTime(createdAt),
  ];
}
