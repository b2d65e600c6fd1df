import type { Command } from 'commander';
import { newCommand } from '../terminal/command-line.ts';
import { notificationIdArgument, projectIdArgument, type RunOnStack } from './command.ts';
import { type KeyOptions, keyFileOption, keyVariable, openClient } from './key-option.ts';
import { notificationText } from './notification-text.ts';

export function stopCommand(runOnStack: RunOnStack, env: NodeJS.ProcessEnv): Command {
  return newCommand(
    'stop',
    `Stops a notification that is being sent, over HTTP. The secret key is read from ${keyVariable}.`,
    'my-site 019aa8d2-7c1e-7d2a-9b1f-0d8c6b1f2a3e',
  )
    .addArgument(projectIdArgument())
    .addArgument(notificationIdArgument())
    .addOption(keyFileOption())
    .action((projectId: string, notificationId: string, options: KeyOptions) =>
      runOnStack(async (context) => {
        const carillon = await openClient(context, projectId, options, env);
        const stopped = await carillon.stop(notificationId);
        context.print(stopped, notificationText(stopped, context.paint));
      }),
    );
}
