import { Argument, Command } from 'commander';
import { withExamples } from '../terminal/command-line.ts';
import { paintFor } from '../terminal/terminal.ts';
import { projectIdArgument, projectJson, type RunOnStack, readProjectName } from './command.ts';
import { projectText } from './project-text.ts';

export function renameCommand(runOnStack: RunOnStack): Command {
  const command = new Command('rename')
    .description('Changes the name of a project. Its id, which is in every key and address, stays.')
    .addArgument(projectIdArgument())
    .addArgument(new Argument('<name>', 'name that people see').argParser(readProjectName))
    .action((projectId: string, name: string) =>
      runOnStack(async ({ registry, settings, terminal, print }) => {
        const project = await registry.rename(projectId, name);
        print(projectJson(project), projectText(project, settings, paintFor(terminal.output)));
      }),
    );
  return withExamples(command, 'my-site "My new site"');
}
