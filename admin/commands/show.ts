import { type Command, InvalidArgumentError } from 'commander';
import { newCommand } from '../terminal/command-line.ts';
import { projectIdArgument, type RunOnStack } from './command.ts';
import { projectText, projectView } from './project-view.ts';

interface ShowOptions {
  readonly month?: string;
  readonly keys?: true;
}

export function showCommand(runOnStack: RunOnStack): Command {
  return newCommand(
    'show',
    'Prints a project, its limits and its usage.',
    ...['my-site', 'my-site --month 2026-11 --json', 'my-site --keys'],
  )
    .addArgument(projectIdArgument())
    .option('--month <YYYY-MM>', 'count the notifications of this UTC month', readMonth)
    .option('--keys', 'also print the identity key, which signs user ids')
    .action((projectId: string, { month, keys }: ShowOptions) =>
      runOnStack(async ({ registry, settings, paint, print }) => {
        const found = await registry.get(projectId);
        const view = projectView(found, settings, {
          ...(await registry.usage(projectId, month)),
          previousKeySubscribers: found.previousVapidPublicKey
            ? await registry.countPreviousPair(found)
            : undefined,
        });
        const identityKey = keys ? await registry.identityKey(projectId) : undefined;
        print({ ...view, identityKey }, projectText({ ...view, identityKey }, paint));
      }),
    );
}

function readMonth(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text;
  throw new InvalidArgumentError('Use a year and a month, such as 2026-11.');
}
