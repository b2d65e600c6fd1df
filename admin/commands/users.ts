import { Argument, Command, InvalidArgumentError } from 'commander';
import { countText } from '../../contract/count-text.ts';
import { userSchema } from '../../contract/schemas/user.ts';
import { newCommand } from '../terminal/command-line.ts';
import { printable } from '../terminal/printable.ts';
import { table } from '../terminal/table.ts';
import { projectIdArgument, type RunOnStack, type YesOption } from './command.ts';
import { formatTime } from './project-view.ts';

export function usersCommand(runOnStack: RunOnStack): Command {
  return new Command('users')
    .description('Exports or deletes what is stored about one person.')
    .addCommand(exportCommand(runOnStack))
    .addCommand(deleteCommand(runOnStack));
}

function exportCommand(runOnStack: RunOnStack): Command {
  return newCommand(
    'export',
    'Prints everything that is stored under a user id; with --json also the keys.',
    ...['my-site ada', 'my-site ada --json'],
  )
    .addArgument(projectIdArgument())
    .addArgument(userIdArgument())
    .action((projectId: string, userId: string) =>
      runOnStack(async ({ users, paint, print }) => {
        const user = await users.export(projectId, userId);
        const subscriptions = user.subscriptions.map((one) => [
          printable(one.endpoint),
          one.channels.join(' '),
          formatTime(one.createdAt),
          formatTime(one.updatedAt),
        ]);
        const columns = ['endpoint', 'channels', 'created', 'updated'].map((title) => ({ title }));
        print(
          user,
          `Stored ${subscriptionsOf(user.subscriptions.length, user)}\n` +
            (subscriptions.length > 0 ? `\n${table(columns, subscriptions, paint)}` : '') +
            '\nData that may be about the person, stored without the user id:\n\n' +
            user.elsewhere.map(({ where, what }) => `  ${where}: ${what}\n`).join(''),
        );
      }),
    );
}

function deleteCommand(runOnStack: RunOnStack): Command {
  return newCommand(
    'delete',
    'Deletes all subscriptions of a user id.',
    ...['my-site ada', 'my-site ada --yes --json'],
  )
    .addArgument(projectIdArgument())
    .addArgument(userIdArgument())
    .option('--yes', 'delete without asking for confirmation')
    .action((projectId: string, userId: string, { yes }: YesOption) =>
      runOnStack(async ({ users, print, confirm }) => {
        const user = { projectId, userId };
        const count = await users.count(projectId, userId);
        const effect = `permanently deletes ${subscriptionsOf(count, user)}`;
        const refusal = 'Nothing was deleted.';
        await confirm({ effect, expected: userId, label: 'user id', refusal, yes });
        const removed = await users.remove(projectId, userId);
        print({ ...user, removed }, `Deleted ${subscriptionsOf(removed, user)}\n`);
      }),
    );
}

function subscriptionsOf(
  count: number,
  { projectId, userId }: { readonly projectId: string; readonly userId: string },
): string {
  return `subscriptions of "${printable(userId)}" in "${projectId}": ${countText(count)}`;
}

function userIdArgument(): Argument {
  return new Argument('<userId>', 'user id, as the page has set it').argParser((userId) => {
    const { error } = userSchema.safeParse({ userId });
    if (error === undefined) return userId;
    throw new InvalidArgumentError(`It ${error.issues[0]!.message}.`);
  });
}
