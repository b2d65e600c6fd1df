import { Command, InvalidArgumentError } from 'commander';
import { ProjectNotFound } from '../project-errors.ts';
import { withExamples } from '../terminal/command-line.ts';
import { projectIdArgument, type RunOnStack } from './command.ts';
import { effectiveLimits } from './effective-limits.ts';
import { countOf, describeLimit } from './limits.ts';

export function usageCommand(runOnStack: RunOnStack): Command {
  const command = new Command('usage')
    .description('Prints how many notifications a project has sent in a UTC month.')
    .addArgument(projectIdArgument())
    .option('--month <YYYY-MM>', 'UTC month (default: the current one)', readMonth)
    .action((projectId: string, { month: chosen }: { readonly month?: string }) =>
      runOnStack(async ({ registry, settings, print }) => {
        const project = await registry.find(projectId);
        if (!project) throw new ProjectNotFound(projectId);
        const { month, sends } = await registry.usage(projectId, chosen);
        const { monthlySendCap } = effectiveLimits(project.plan, settings);
        print(
          { projectId, month, sends, monthlySendCap },
          `"${projectId}" sent ${countOf(sends, 'notification')} in ${month}. ` +
            `The limit per month is now: ${describeLimit(monthlySendCap)}.\n`,
        );
      }),
    );
  return withExamples(command, 'my-site', 'my-site --month 2026-11 --json');
}

function readMonth(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError('Use a year and a month, such as 2026-11.');
}
