import { Command, InvalidArgumentError } from 'commander';
import { countText } from '../../contract/text/text.ts';
import { limits } from '../../contract/wire/limits.ts';
import type { Project } from '../../contract/wire/project.ts';
import type { Endpoint } from '../../contract/wire/subscription.ts';
import { userSchema } from '../../contract/wire/user.ts';
import {
  eraseFound,
  type Person,
  personOf,
  userSubscriptions,
} from '../../lambdas/store/audience.ts';
import { batchGet } from '../../lambdas/store/dynamo.ts';
import { projectUser, type SubscriptionItem, subscriptionKey } from '../../lambdas/store/items.ts';
import { projectStore } from '../../lambdas/store/projects.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { applicationServerKeys } from '../store/registered-projects.ts';
import { portableSubscription } from '../subscriptions/line.ts';
import { newCommand } from '../terminal/command-line.ts';
import { type Column, formatTime, table } from '../terminal/table.ts';
import { printable } from '../terminal/terminal.ts';
import { type Context, type RunOnStack, readProjectId } from './command.ts';

export function usersCommand(runOnStack: RunOnStack): Command {
  return new Command('users')
    .description('Exports or deletes what is stored about one person.')
    .addCommand(exportCommand(runOnStack))
    .addCommand(deleteCommand(runOnStack));
}

function exportCommand(runOnStack: RunOnStack): Command {
  const command = personCommand(
    'export',
    'Prints everything that is stored about a person; with --json also the keys.',
  );
  return command.action((...given: Given) => {
    const { projectId, person } = personIn(command, given);
    return runOnStack(async ({ paint, print, ...stack }) => {
      const found = [];
      for (const project of await projectsOf(stack, projectId))
        found.push(await dataOf(stack, project, person));
      const lines = found.map(
        (one) =>
          `Stored ${subscriptionsOf(one.subscriptions.length, one.projectId, person)}\n` +
          (one.subscriptions.length > 0 ? `\n${table(columns, one.subscriptions, paint)}` : ''),
      );
      print(
        projectId === undefined ? found : found[0],
        `${lines.join('')}\nData that may be about the person, stored without the user id:\n\n` +
          elsewhere.map(({ where, what }) => `  ${where}: ${what}\n`).join(''),
      );
    });
  });
}

type StoredSubscription = Awaited<ReturnType<typeof dataOf>>['subscriptions'][number];

const columns: readonly Column<StoredSubscription>[] = [
  ['endpoint', ({ endpoint }) => printable(endpoint)],
  ['channels', ({ channels }) => channels.join(' ')],
  ['created', ({ createdAt }) => formatTime(createdAt)],
  ['updated', ({ updatedAt }) => formatTime(updatedAt)],
];

function deleteCommand(runOnStack: RunOnStack): Command {
  const command = personCommand(
    'delete',
    'Erases all subscriptions of a person. Their browsers come back only when the person subscribes again.',
  ).option('--yes', 'delete without asking for confirmation');
  return command.action((...given: Given) => {
    const { projectId, person } = personIn(command, given);
    return runOnStack(async ({ print, confirm, ...stack }) => {
      const { dynamo, tables } = stack;
      const projects = await projectsOf(stack, projectId);
      const users = userSubscriptions(dynamo, tables.subscriptions);
      const effects: string[] = [];
      for (const project of projects) {
        const { count } = await users.list(project, person);
        effects.push(subscriptionsOf(count, project.projectId, person));
      }
      await confirm({
        effect: `permanently deletes ${effects.join('; ')}`,
        expected: person.userId ?? 'erase',
        label: person.userId === undefined ? 'word erase' : 'user id',
        refusal: 'Nothing was deleted.',
      });
      const subscriptions = subscriptionStore(dynamo, tables, () => new Date());
      const erased = [];
      for (const project of projects) {
        const found = await users.endpointHashes(project, person);
        const removed = await eraseFound(subscriptions, project.ref, person.userId, found);
        erased.push({ projectId: project.projectId, ...person, removed });
      }
      print(
        projectId === undefined ? erased : erased[0],
        erased
          .map(
            ({ projectId, removed }) => `Deleted ${subscriptionsOf(removed, projectId, person)}\n`,
          )
          .join(''),
      );
    });
  });
}

interface PersonOptions {
  readonly device?: string;
  readonly endpoint?: Endpoint;
  readonly all?: true;
}

type Given = readonly [first: string | undefined, second: string | undefined, PersonOptions];

function personCommand(name: string, description: string): Command {
  return newCommand(
    name,
    description,
    ...[
      'my-site ada',
      'my-site --endpoint https://updates.push.services.mozilla.com/wpush/v2/an-example',
      '--all ada --json',
    ],
  )
    .argument('[projectId]', 'id of the project; left out with --all')
    .argument('[userId]', 'user id, as the page has set it')
    .option('--device <id>', 'the browser with this device id', readWith('device'))
    .option('--endpoint <url>', 'the browser with this endpoint', readWith('endpoint'))
    .option('--all', 'in all projects');
}

function readWith(name: 'userId' | 'device' | 'endpoint') {
  return (text: string) => {
    const { data, error } = userSchema.safeParse({ [name]: text });
    if (error === undefined) return data[name];
    throw new InvalidArgumentError(`It ${error.issues[0]!.message}.`);
  };
}

/** What the arguments name. Of all projects, the id is undefined. */
function personIn(command: Command, [first, second, { device, endpoint, all }]: Given) {
  const [projectId, userId] = all ? [undefined, first] : [first, second];
  const { error } = userSchema.safeParse({ userId, device, endpoint: endpoint?.href });
  if (userId !== undefined && error !== undefined) {
    command.error(`Invalid user id. It ${error.issues[0]!.message}.`);
  }
  if ((all ? second : error) !== undefined || (projectId === undefined && !all)) {
    command.error('Name a project or --all, and a user id, --device or --endpoint.');
  }
  return {
    projectId: projectId === undefined ? undefined : readProjectId(projectId),
    person: personOf({ userId, device }, endpoint),
  };
}

async function projectsOf(
  { registry, dynamo, tables }: Pick<Context, 'registry' | 'dynamo' | 'tables'>,
  projectId: string | undefined,
): Promise<readonly Project[]> {
  const ids: string[] = [];
  if (projectId === undefined) for await (const one of registry.list()) ids.push(one.projectId);
  else ids.push((await registry.get(projectId)).projectId);
  const { find } = projectStore(dynamo, tables.projects, () => new Date());
  const found = await Promise.all(ids.map((id) => find(id)));
  // One may have been removed meanwhile.
  return found.filter((one) => one !== undefined);
}

function subscriptionsOf(count: number, projectId: string, { userId, device }: Person): string {
  const whose = userId ?? `device ${device}`;
  return `subscriptions of "${printable(whose)}" in "${projectId}": ${countText(count)}`;
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

/** Everything that is stored about a person in a project. */
async function dataOf(
  { registry, dynamo, tables }: Pick<Context, 'registry' | 'dynamo' | 'tables'>,
  project: Project,
  person: Person,
) {
  const { projectId, ref } = project;
  const table = tables.subscriptions;
  const user = person.userId === undefined ? undefined : projectUser(ref, person.userId);
  const found: SubscriptionItem[] = [];
  for await (const hashes of await userSubscriptions(dynamo, table).endpointHashes(
    project,
    person,
  )) {
    const keys = hashes.map((hash) => subscriptionKey(ref, hash));
    const items = await batchGet<SubscriptionItem>(dynamo, table, keys);
    // The index may still have a subscription that has passed to another user.
    found.push(...items.filter((item) => user === undefined || item.projectUser === user));
  }
  // Read last, so that it has the key of each subscription.
  const keys = applicationServerKeys(await registry.get(projectId));
  const subscriptions = found.map((item) => {
    const { userId, channels = [], ...others } = portableSubscription(ref, item);
    // Undefined if the project has dropped the key.
    const applicationServerKey = keys.get(item.vapidPairNumber ?? 0);
    const ofDevice = person.userId === undefined && { userId };
    return { ...others, ...ofDevice, applicationServerKey, channels };
  });
  // Where else there may be data about the person, without the user id.
  return { projectId, ...person, subscriptions, elsewhere };
}
