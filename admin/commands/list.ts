import { Command } from 'commander';
import type { ProjectUsage } from '../../lambdas/store/usage.ts';
import type { RegisteredProject } from '../registered-project.ts';
import { withExamples } from '../terminal/command-line.ts';
import { printable } from '../terminal/printable.ts';
import { table } from '../terminal/table.ts';
import { paintFor } from '../terminal/terminal.ts';
import { truncate } from '../terminal/truncate.ts';
import { projectJson, type RunOnStack } from './command.ts';
import { type EffectiveLimits, effectiveLimits } from './effective-limits.ts';
import { describeLimit, formatCount } from './limits.ts';
import { formatTime } from './project-text.ts';

export function listCommand(runOnStack: RunOnStack): Command {
  const command = new Command('list')
    .description('Lists all projects with their usage and limits.')
    .action(() =>
      runOnStack(async ({ registry, settings, terminal, print, next }) => {
        const projects: RegisteredProject[] = [];
        for await (const project of registry.list()) projects.push(project);
        projects.sort((one, other) => (one.projectId < other.projectId ? -1 : 1));
        const listed: ListedProject[] = [];
        for (const project of projects) {
          const usage = await registry.usage(project.projectId);
          listed.push({ project, usage, limits: effectiveLimits(project.plan, settings) });
        }
        const text =
          projects.length === 0
            ? `No projects. Create one with: ${next('create <projectId>')}\n`
            : table(columns, listed.map(row), paintFor(terminal.output));
        print(
          listed.map(({ project, ...stored }) => projectJson(project, stored)),
          text,
        );
      }),
    );
  return withExamples(command, '', '--region eu-west-1 --json');
}

interface ListedProject {
  readonly project: RegisteredProject;
  readonly usage: ProjectUsage;
  readonly limits: EffectiveLimits;
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

function row({ project, usage, limits }: ListedProject): string[] {
  return [
    project.projectId,
    truncate(printable(project.name), nameLengthCharacters),
    formatCount(usage.subscribers),
    describeLimit(limits.subscriberCap),
    formatCount(usage.sends),
    describeLimit(limits.monthlySendCap),
    describeLimit(limits.rateLimitPerMinute),
    project.userIds,
    formatTime(project.createdAt),
  ];
}

/** Longest name in the table. `show` prints names in full. */
const nameLengthCharacters = 40;
