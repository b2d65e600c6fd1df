import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';
import type { Flags } from '../terminal/arguments.ts';
import { progressBar } from '../terminal/progress-bar.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type Command, CommandError } from './command.ts';
import { formatCount } from './limits.ts';

const flags = {
  yes: { help: 'do not ask' },
} as const satisfies Flags;

export const remove: Command<typeof flags> = {
  summary: 'Deletes a project with its subscriptions, notifications and usage.',
  takesProject: true,
  flags,
  prepare:
    (given, projectId) =>
    async ({ registry, terminal, print }) => {
      const { subscribers } = await registry.usage(projectId);
      if (!given.yes) await confirm(projectId, subscribers, terminal);
      const bar = progressBar(terminal.messages, 'deleting', subscribers);
      const removed = await registry
        .remove(projectId, randomBytes, ({ subscriptions }) => bar.update(subscriptions))
        .finally(() => bar.stop());
      print(
        { projectId, removed },
        `Deleted "${projectId}" with ${formatCount(removed.subscriptions)} subscriptions and ` +
          `${formatCount(removed.notifications)} notifications.\n`,
      );
    },
};

/** @throws {CommandError} unless the person types the project's id. */
async function confirm(projectId: string, subscribers: number, terminal: Terminal): Promise<void> {
  const { input, messages } = terminal;
  if (!input.isTTY) {
    throw new CommandError('There is no terminal to ask at. Give --yes to delete without asking.');
  }
  const question =
    `This deletes "${projectId}" with its ${formatCount(subscribers)} subscribers for good.\n` +
    'Type its id to go on: ';
  const lines = createInterface({ input, output: messages });
  const answer = await new Promise<string | undefined>((resolve) => {
    lines.question(question, resolve);
    // Ctrl-C and Ctrl-D close the input and leave the question without an answer.
    lines.once('close', () => resolve(undefined));
  });
  lines.close();
  if (answer === undefined) messages.write('\n');
  if (answer?.trim() !== projectId) throw new CommandError('Nothing was deleted.');
}
