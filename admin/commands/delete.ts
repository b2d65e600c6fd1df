import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import { Command } from 'commander';
import { withExamples } from '../terminal/command-line.ts';
import { progressBar } from '../terminal/progress-bar.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { CommandError, projectIdArgument, type RunOnStack } from './command.ts';
import { formatCount } from './limits.ts';

export function deleteCommand(runOnStack: RunOnStack): Command {
  const command = new Command('delete')
    .description('Deletes a project with its subscriptions, notifications and usage.')
    .addArgument(projectIdArgument())
    .option('--yes', 'delete without asking for confirmation')
    .action((projectId: string, { yes }: { readonly yes?: true }) =>
      runOnStack(async ({ registry, terminal, print }) => {
        const { subscribers } = await registry.usage(projectId);
        if (!yes) await confirm(projectId, subscribers, terminal);
        const bar = progressBar(terminal.messages, 'deleting', subscribers);
        const removed = await registry
          .remove(projectId, randomBytes, ({ subscriptions }) => bar.update(subscriptions))
          .finally(() => bar.stop());
        print(
          { projectId, removed },
          `Deleted "${projectId}" with ${formatCount(removed.subscriptions)} subscriptions and ` +
            `${formatCount(removed.notifications)} notifications.\n`,
        );
      }),
    );
  return withExamples(command, 'my-site', 'my-site --yes --json');
}

/** @throws {CommandError} unless the operator types the project id. */
async function confirm(projectId: string, subscribers: number, terminal: Terminal): Promise<void> {
  const { input, messages } = terminal;
  if (!input.isTTY) {
    throw new CommandError('Cannot ask without a terminal. Use --yes to delete without asking.');
  }
  const question =
    `This deletes "${projectId}" and its ${formatCount(subscribers)} subscribers permanently.\n` +
    'Type the project id to continue: ';
  const lines = createInterface({ input, output: messages });
  const typed = await new Promise<string | undefined>((resolve) => {
    lines.question(question, resolve);
    // Ctrl-C and Ctrl-D close the input without calling the callback of `question`.
    lines.once('close', () => resolve(undefined));
  });
  lines.close();
  if (typed === undefined) messages.write('\n');
  if (typed?.trim() !== projectId) throw new CommandError('Nothing was deleted.');
}
