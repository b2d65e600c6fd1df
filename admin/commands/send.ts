import { type Command, InvalidArgumentError } from 'commander';
import { countOf, countText } from '../../contract/count-text.ts';
import { audienceSize } from '../../contract/delivery-verdict.ts';
import { limits } from '../../contract/limits.ts';
import type { SendResult } from '../../contract/schemas/notification.ts';
import { sliceSizes } from '../../contract/slice-sizes.ts';
import { newCommand } from '../terminal/command-line.ts';
import { projectIdArgument, type RunOnStack, type YesOption } from './command.ts';
import { type KeyOptions, keyFileOption, keyVariable, openClient } from './key-option.ts';
import { failedText, verdictText } from './notification-text.ts';

interface SendOptions extends KeyOptions, YesOption {
  readonly user?: string;
  readonly channel?: string[];
  readonly seenWithinDays?: number;
  readonly title: string;
  readonly body?: string;
  readonly url?: string;
}

export function sendCommand(runOnStack: RunOnStack, env: NodeJS.ProcessEnv): Command {
  return newCommand(
    'send',
    `Sends a notification over HTTP, to one user or to everyone. The secret key is read from ${keyVariable}.`,
    'my-site --user ann --title "Is this on?"',
    'my-site --channel news --channel sales --seen-within-days 30',
    'my-site --key-file secret-key.txt --yes',
  )
    .addArgument(projectIdArgument())
    .option('--user <userId>', 'send to this user only (default: to everyone, after asking)')
    .option('--channel <name...>', 'only subscribers with any of these channels')
    .option(
      '--seen-within-days <days>',
      'only subscribers that were seen within this time',
      readDays,
    )
    .option('--title <text>', 'title of the notification', readTitle, 'Test')
    .option('--body <text>', 'text below the title')
    .option('--url <url>', 'page that a click opens')
    .addOption(keyFileOption())
    .option('--yes', 'send to everyone without asking')
    .action((projectId: string, options: SendOptions) =>
      runOnStack(async (context) => {
        const { registry, paint, print, next, confirm } = context;
        const carillon = await openClient(context, projectId, options, env);
        const { subscribers } = await registry.usage(projectId);
        const { user, channel: channels, seenWithinDays, title, body, url, yes } = options;
        const conditions = {
          ...(channels !== undefined && { channels }),
          ...(seenWithinDays !== undefined && { seenWithinDays }),
        };
        const isSelected = Object.keys(conditions).length > 0;
        if (user === undefined) {
          const effect =
            `sends "${title}" to ${countOf(subscribers, 'subscriber')} of "${projectId}"` +
            (isSelected ? ', without those that do not match' : '');
          await confirm({ effect, expected: projectId, refusal: 'Nothing was sent.', yes });
        }
        const notification = {
          title,
          ...(body !== undefined && { body }),
          ...(url !== undefined && { url }),
          ...(user !== undefined && { userIds: [user] }),
          ...conditions,
        };
        const isLarge = user === undefined && subscribers > sliceSizes.recipients;
        const result = await (isLarge
          ? carillon.send(notification, { respondAsync: true })
          : carillon.send(notification));
        if (!('attempted' in result)) {
          const call = next(`stats ${projectId} ${result.id}`);
          return print(result, `Sending. See the counts with: ${call}\n`);
        }
        const audience =
          user === undefined && !isSelected
            ? 'everyone'
            : { ...(user !== undefined && { users: 1 }), ...conditions };
        const judged = { ...result, audience } as const;
        const counts = audienceSize(judged) === 0 ? '' : countsText(result);
        print(result, counts + verdictText(judged, paint));
      }),
    );
}

function readDays(text: string): number {
  const days = Number(text);
  if (Number.isInteger(days) && days >= 1 && days <= limits.seenWithinDays) return days;
  throw new InvalidArgumentError(`Use whole days from 1 to ${limits.seenWithinDays}.`);
}

function readTitle(text: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('Use a title that is not blank.');
}

function countsText(result: SendResult): string {
  const { id, attempted, delivered, removed, unreached = 0 } = result;
  return (
    `Sent ${id}: ${countText(attempted)} attempted, ${countText(delivered)} delivered, ` +
    `${countText(removed)} removed${unreached > 0 ? `, ${countText(unreached)} unreached` : ''}.\n` +
    `Failed: ${failedText(result)}\n`
  );
}
