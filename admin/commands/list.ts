import type { RegisteredProject } from '../project-registry.ts';
import { printable } from '../terminal/printable.ts';
import { table } from '../terminal/table.ts';
import { paintFor } from '../terminal/terminal.ts';
import { type Command, call, projectJson } from './command.ts';
import { describeLimit } from './limits.ts';
import { formatTime } from './project-text.ts';

export const list: Command<Record<never, never>> = {
  summary: 'Lists every project.',
  takesProject: false,
  flags: {},
  prepare:
    () =>
    async ({ registry, terminal, print }) => {
      const projects: RegisteredProject[] = [];
      for await (const project of registry.list()) projects.push(project);
      projects.sort((one, other) => (one.projectId < other.projectId ? -1 : 1));
      const paint = paintFor(terminal.output);
      const text =
        projects.length === 0
          ? `There are no projects yet. Make one with: ${call} create <projectId>\n`
          : table(columns, projects.map(row), paint);
      print(
        projects.map((project) => projectJson(project)),
        text,
      );
    },
};

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
    shortened(printable(name)),
    describeLimit(plan.subscriberCap),
    describeLimit(plan.monthlySendCap),
    describeLimit(plan.rateLimitPerMinute),
    formatTime(createdAt),
  ];
}

/** Characters of a name that the table has room for; `show` prints all of it. */
const nameWidth = 40;

function shortened(name: string): string {
  const characters = [...name];
  return characters.length > nameWidth ? `${characters.slice(0, nameWidth - 1).join('')}…` : name;
}
