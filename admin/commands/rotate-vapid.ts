import { Command } from 'commander';
import { withExamples } from '../terminal/command-line.ts';
import { paintFor } from '../terminal/terminal.ts';
import { projectIdArgument, type RunOnStack } from './command.ts';

export function rotateVapidCommand(runOnStack: RunOnStack): Command {
  const command = new Command('rotate-vapid')
    .description(
      "Replaces a project's application server key. Nobody is lost: see docs/operating.md.",
    )
    .addArgument(projectIdArgument())
    .action((projectId: string) =>
      runOnStack(async ({ registry, terminal, print, next }) => {
        const rotated = await registry.rotateVapid(projectId);
        const { vapidPublicKey, previousVapidPublicKey } = rotated;
        const key = paintFor(terminal.output)('cyan', vapidPublicKey);
        print(
          {
            projectId,
            applicationServerKey: vapidPublicKey,
            previousApplicationServerKey: previousVapidPublicKey,
          },
          `The new application server key of "${projectId}":\n\n  ${key}\n\n` +
            'Put it into your pages. Each browser then subscribes with it at its next visit;\n' +
            'until then its pushes are signed with the previous key.\n\n' +
            `Browsers that still use it:  ${next(`show ${projectId}`)}\n` +
            `To drop it in the end:       ${next(`drop-previous-vapid ${projectId}`)}\n`,
        );
      }),
    );
  return withExamples(command, 'my-site', 'my-site --local --json');
}
