import { Argument, Command, InvalidArgumentError } from 'commander';
import { countText } from '../../contract/text/text.ts';
import { limits } from '../../contract/wire/limits.ts';
import { userSchema } from '../../contract/wire/user.ts';
import { removeFound, userSubscriptions } from '../../lambdas/store/audience.ts';
import { batchGet } from '../../lambdas/store/dynamo.ts';
import { projectUser, type SubscriptionItem, subscriptionKey } from '../../lambdas/store/items.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { applicationServerKeys } from '../store/registered-projects.ts';
import { portableSubscription } from '../subscriptions/line.ts';
import { type Column, formatTime, table } from '../terminal/table.ts';
import { printable } from '../terminal/terminal.ts';
import { type Context, projectCommand, type RunOnStack } from './command.ts';

export function usersCommand(runOnStack: RunOnStack): Command {
  return new Command('users')
    .description('Exports or deletes what is stored about one person.')
    .addCommand(exportCommand(runOnStack))
    .addCommand(deleteCommand(runOnStack));
}

function exportCommand(runOnStack: RunOnStack): Command {
  return projectCommand(
    'export',
    'Prints everything that is stored under a user id; with --json also the keys.',
    ...['my-site ada', 'my-site ada --json'],
  )
    .addArgument(userIdArgument())
    .action((projectId: string, userId: string) =>
      runOnStack(async ({ paint, print, ...stack }) => {
        const user = await dataOfUser(stack, projectId, userId);
        print(
          user,
          `Stored ${subscriptionsOf(user.subscriptions.length, user)}\n` +
            (user.subscriptions.length > 0
              ? `\n${table(columns, user.subscriptions, paint)}`
              : '') +
            '\nData that may be about the person, stored without the user id:\n\n' +
            user.elsewhere.map(({ where, what }) => `  ${where}: ${what}\n`).join(''),
        );
      }),
    );
}

type StoredSubscription = Awaited<ReturnType<typeof dataOfUser>>['subscriptions'][number];

const columns: readonly Column<StoredSubscription>[] = [
  ['endpoint', ({ endpoint }) => printable(endpoint)],
  ['channels', ({ channels }) => channels.join(' ')],
  ['created', ({ createdAt }) => formatTime(createdAt)],
  ['updated', ({ updatedAt }) => formatTime(updatedAt)],
];

function deleteCommand(runOnStack: RunOnStack): Command {
  return projectCommand(
    'delete',
    'Deletes all subscriptions of a user id.',
    ...['my-site ada', 'my-site ada --yes --json'],
  )
    .addArgument(userIdArgument())
    .option('--yes', 'delete without asking for confirmation')
    .action((projectId: string, userId: string) =>
      runOnStack(async ({ registry, dynamo, tables, print, confirm }) => {
        const user = { projectId, userId };
        const { ref } = await registry.get(projectId);
        const users = userSubscriptions(dynamo, tables.subscriptions);
        const { count } = await users.list(ref, userId);
        const effect = `permanently deletes ${subscriptionsOf(count, user)}`;
        const refusal = 'Nothing was deleted.';
        await confirm({ effect, expected: userId, label: 'user id', refusal });
        const subscriptions = subscriptionStore(dynamo, tables, () => new Date());
        const found = await users.endpointHashes(ref, userId);
        const removed = await removeFound(subscriptions, ref, userId, found);
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

/** SECURITY.md says the same of the whole service. */
const elsewhere = [
  {
    where: 'Notifications',
    what: `texts and URLs as sent, for ${limits.notificationRetentionDays} days; how many users they were sent to, but not to whom`,
  },
  { where: 'RateLimits', what: 'addresses of callers, for two minutes to a few days' },
  { where: 'logs', what: 'networks of callers (/24, or /48 for IPv6), for 30 days' },
  { where: 'backups', what: 'subscriptions of the last 35 days, also deleted ones' },
] as const;

/** Everything that is stored under a user id. @throws {ProjectNotFound} */
async function dataOfUser(
  { registry, dynamo, tables }: Pick<Context, 'registry' | 'dynamo' | 'tables'>,
  projectId: string,
  userId: string,
) {
  const { ref } = await registry.get(projectId);
  const table = tables.subscriptions;
  const found: SubscriptionItem[] = [];
  for await (const hashes of await userSubscriptions(dynamo, table).endpointHashes(ref, userId)) {
    const keys = hashes.map((hash) => subscriptionKey(ref, hash));
    const items = await batchGet<SubscriptionItem>(dynamo, table, keys);
    // The index may still have a subscription that has passed to another user.
    found.push(...items.filter((item) => item.projectUser === projectUser(ref, userId)));
  }
  // Read last, so that it has the key of each subscription.
  const keys = applicationServerKeys(await registry.get(projectId));
  const subscriptions = found.map((item) => {
    const { userId: _, channels = [], ...others } = portableSubscription(ref, item);
    // Undefined if the project has dropped the key.
    const applicationServerKey = keys.get(item.vapidPairNumber ?? 0);
    return { ...others, applicationServerKey, channels };
  });
  // Where else there may be data about the person, without the user id.
  return { projectId, userId, subscriptions, elsewhere };
}
