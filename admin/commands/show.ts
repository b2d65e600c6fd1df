import { type Command, InvalidArgumentError } from 'commander';
import { countText } from '../../contract/text/text.ts';
import { newCommand } from '../terminal/command-line.ts';
import { table, truncate } from '../terminal/table.ts';
import { printable } from '../terminal/terminal.ts';
import { projectIdArgument, type RunOnStack } from './command.ts';
import {
  describeLimit,
  formatTime,
  type ProjectView,
  projectText,
  projectView,
} from './project-view.ts';

interface ShowOptions {
  readonly month?: string;
  readonly keys?: true;
}

export function showCommand(runOnStack: RunOnStack): Command {
  return newCommand(
    'show',
    'Prints a project, its limits and its usage.',
    ...['my-site', 'my-site --month 2026-11 --json', 'my-site --keys'],
  )
    .addArgument(projectIdArgument())
    .option('--month <YYYY-MM>', 'count the notifications of this UTC month', readMonth)
    .option('--keys', 'also print the identity key, which signs user ids')
    .action((projectId: string, { month, keys }: ShowOptions) =>
      runOnStack(async ({ registry, settings, paint, print }) => {
        const found = await registry.get(projectId);
        const view = projectView(found, settings, {
          ...(await registry.usage(projectId, month)),
          previousKeySubscribers: found.previousVapidPublicKey
            ? await registry.countPreviousPair(found)
            : undefined,
        });
        const identityKey = keys ? await registry.identityKey(projectId) : undefined;
        print({ ...view, identityKey }, projectText({ ...view, identityKey }, paint));
      }),
    );
}

function readMonth(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError('Use a year and a month, such as 2026-11.');
}

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
