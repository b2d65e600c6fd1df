import { Command } from 'commander';
import type { RegisteredProject } from '../registered-project.ts';
import { withExamples } from '../terminal/command-line.ts';
import { printable } from '../terminal/printable.ts';
import { table } from '../terminal/table.ts';
import { paintFor } from '../terminal/terminal.ts';
import { programName, projectJson, type RunOnStack } from './command.ts';
import { describeLimit } from './limits.ts';
import { formatTime } from './project-text.ts';

export function listCommand(runOnStack: RunOnStack): Command {
  const command = new Command('list')
    .description('Lists all projects in order of their ids.')
    .action(() =>
      runOnStack(async ({ registry, terminal, print }) => {
        const projects: RegisteredProject[] = [];
        for await (const project of registry.list()) projects.push(project);
        projects.sort((one, other) => (one.projectId < other.projectId ? -1 : 1));
        const text =
          projects.length === 0
            ? `No projects. Create one with: ${programName} create <projectId>\n`
            : table(columns, projects.map(row), paintFor(terminal.output));
        print(
          projects.map((project) => projectJson(project)),
          text,
        );
      }),
    );
  return withExamples(command, '', '--region eu-west-1 --json');
}

const columns = [
  { title: 'project' },
  { title: 'name' },
  { title: 'subscriber cap', align: 'right' },
  { title: 'send cap', align: 'right' },
  { title: 'rate limit', align: 'right' },
  { title: 'created' },
] as const;

function row({ projectId, name, plan, createdAt }: RegisteredProject): string[] {
  return [
    projectId,
    truncate(printable(name)),
    describeLimit(plan.subscriberCap),
    describeLimit(plan.monthlySendCap),
    describeLimit(plan.rateLimitPerMinute),
    formatTime(createdAt),
  ];
}

/** Longest name in the table. `show` prints names in full. */
const nameLengthCharacters = 40;

function truncate(name: string): string {
  const characters = [...name];
  return characters.length > nameLengthCharacters
    ? `${characters.slice(0, nameLengthCharacters - 1).join('')}…`
    : name;
}
