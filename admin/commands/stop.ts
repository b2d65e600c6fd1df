import { Command } from 'commander';
import { CarillonServer } from '../../sdk/server/carillon-server.ts';
import { ProjectNotFound } from '../project-errors.ts';
import { withExamples } from '../terminal/command-line.ts';
import { paintFor } from '../terminal/terminal.ts';
import { notificationIdArgument, projectIdArgument, type RunOnStack } from './command.ts';
import { type KeyOptions, keyFileOption, keyVariable, readKey } from './key-option.ts';
import { notificationText } from './notification-text.ts';

export function stopCommand(runOnStack: RunOnStack, env: NodeJS.ProcessEnv): Command {
  const command = new Command('stop')
    .description(
      `Stops a notification that is being sent, over HTTP. The secret key is read from ${keyVariable}.`,
    )
    .addArgument(projectIdArgument())
    .addArgument(notificationIdArgument())
    .addOption(keyFileOption())
    .action((projectId: string, notificationId: string, options: KeyOptions) =>
      runOnStack(async ({ registry, baseUrl, terminal, print }) => {
        if (!(await registry.find(projectId))) throw new ProjectNotFound(projectId);
        const secretKey = await readKey(options, env, terminal.input);
        const carillon = new CarillonServer({ baseUrl, projectId, secretKey });
        const stopped = await carillon.stop(notificationId);
        print(stopped, notificationText(stopped, paintFor(terminal.output)));
      }),
    );
  return withExamples(command, 'my-site 019aa8d2-7c1e-7d2a-9b1f-0d8c6b1f2a3e');
}
