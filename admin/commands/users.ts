import { Argument, Command, InvalidArgumentError } from 'commander';
import { countOf, countText } from '../../contract/text/text.ts';
import { deviceIdPattern } from '../../contract/wire/formats.ts';
import type { Project } from '../../contract/wire/project.ts';
import { unsubscribeSchema } from '../../contract/wire/subscription.ts';
import { userSchema } from '../../contract/wire/user.ts';
import { type ExportedMember, storedData } from '../../contract/wording/stored-data.ts';
import { eraseFound, userSubscriptions } from '../../lambdas/store/audience.ts';
import { batchGet } from '../../lambdas/store/dynamo.ts';
import {
  deviceIdOf,
  projectUser,
  type SubscriptionItem,
  subscriptionKey,
} from '../../lambdas/store/items.ts';
import { projectStore } from '../../lambdas/store/projects.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { CommandError, ProjectNotFound } from '../errors.ts';
import { applicationServerKeys } from '../store/registered-projects.ts';
import { portableSubscription } from '../subscriptions/line.ts';
import { newCommand } from '../terminal/command-line.ts';
import { type Column, formatTime, table } from '../terminal/table.ts';
import { printable } from '../terminal/terminal.ts';
import { type Context, projectCommand, type RunOnStack } from './command.ts';

export function usersCommand(runOnStack: RunOnStack): Command {
  return new Command('users')
    .description('Finds, exports or deletes what is stored about one person.')
    .addCommand(findCommand(runOnStack))
    .addCommand(exportCommand(runOnStack))
    .addCommand(deleteCommand(runOnStack));
}

/** Whose data: those of a user id, or of one browser. */
type Person = { readonly userId: string } | { readonly device: string };

interface PersonOptions {
  readonly device?: string;
  readonly endpoint?: string;
}

/** Lets a command name a person. @returns what reads the name. */
function namingPerson(command: Command) {
  command
    .addArgument(userIdArgument())
    .option(
      '--device <id>',
      'the browser with this id, which deviceId() of the SDK returns',
      readDevice,
    )
    .option('--endpoint <url>', 'the browser with this endpoint', readEndpoint);
  return (userId: string | undefined, { device, endpoint }: PersonOptions): Person => {
    const people = [
      ...(userId === undefined ? [] : [{ userId }]),
      ...(device === undefined ? [] : [{ device }]),
      ...(endpoint === undefined ? [] : [{ device: deviceIdOf(endpoint) }]),
    ];
    if (people.length !== 1) command.error('give one of: a user id, --device, --endpoint');
    return people[0]!;
  };
}

function nameOf(person: Person): string {
  return 'userId' in person ? printable(person.userId) : person.device;
}

function findCommand(runOnStack: RunOnStack): Command {
  const command = newCommand(
    'find',
    'Finds a person in all projects; with --json also the keys. Exit code 1: nobody is found.',
    ...['ada', '--endpoint https://updates.push.services.mozilla.com/wpush/v2/gAAA'],
  );
  const read = namingPerson(command);
  return command.action((userId: string | undefined, options: PersonOptions) => {
    const person = read(userId, options);
    return runOnStack(async ({ paint, print, ...stack }) => {
      const found: (StoredSubscription & { readonly projectId: string })[] = [];
      for await (const { projectId } of stack.registry.list()) {
        const subscriptions = await subscriptionsOfPerson(stack, projectId, person);
        found.push(...subscriptions.map((one) => ({ projectId, ...one })));
      }
      if (found.length === 0) {
        throw new CommandError('nobody_found', `No project has "${nameOf(person)}".`);
      }
      const text = `${countOf(found.length, 'subscription')} of "${nameOf(person)}":\n\n`;
      print(found, text + table([...findColumns, ...columns], found, paint));
    });
  });
}

const findColumns: readonly Column<{
  readonly projectId: string;
  readonly userId?: string | undefined;
}>[] = [
  ['project', ({ projectId }) => projectId],
  ['user id', ({ userId = '' }) => printable(userId)],
];

function exportCommand(runOnStack: RunOnStack): Command {
  const command = projectCommand(
    'export',
    'Prints everything that is stored about a person; with --json also the keys.',
    ...['my-site ada', 'my-site ada --json'],
  );
  const read = namingPerson(command);
  return command.action((projectId: string, userId: string | undefined, options: PersonOptions) => {
    const person = read(userId, options);
    return runOnStack(async ({ paint, print, ...stack }) => {
      const subscriptions = await subscriptionsOfPerson(stack, projectId, person);
      print(
        { projectId, ...person, subscriptions, elsewhere },
        `Stored ${subscriptionsText(subscriptions.length, projectId, person)}\n` +
          (subscriptions.length > 0 ? `\n${table(columns, subscriptions, paint)}` : '') +
          '\nData that may be about the person, stored without the user id:\n\n' +
          elsewhere.map(elsewhereText).join(''),
      );
    });
  });
}

function elsewhereText({ where, what, kept, leftOut }: (typeof elsewhere)[number]): string {
  return `  ${where}: ${what}. Kept: ${kept}. Not here: ${leftOut}.\n`;
}

type StoredSubscription = Awaited<ReturnType<typeof subscriptionsOfPerson>>[number];

const columns: readonly Column<StoredSubscription>[] = [
  ['endpoint', ({ endpoint }) => printable(endpoint)],
  ['channels', ({ channels }) => channels.join(' ')],
  ['created', ({ createdAt }) => formatTime(createdAt)],
  ['updated', ({ updatedAt }) => formatTime(updatedAt)],
];

function deleteCommand(runOnStack: RunOnStack): Command {
  const command = projectCommand(
    'delete',
    'Erases all subscriptions of a user id, or of one browser. They come back only when the visitor subscribes.',
    ...['my-site ada', 'my-site ada --yes --json'],
  ).option('--yes', 'delete without asking for confirmation');
  const read = namingPerson(command);
  return command.action((projectId: string, userId: string | undefined, options: PersonOptions) => {
    const person = read(userId, options);
    return runOnStack(async (context) => {
      const { dynamo, tables, print, confirm } = context;
      const project = await keyedProject(context, projectId);
      const { length } = await subscriptionsOfPerson(context, projectId, person);
      await confirm({
        effect: `permanently deletes ${subscriptionsText(length, projectId, person)}`,
        ...('userId' in person
          ? { expected: person.userId, label: 'user id' }
          : { expected: projectId }),
        refusal: 'Nothing was deleted.',
      });
      const subscriptions = subscriptionStore(dynamo, tables, () => new Date());
      const found = await userSubscriptions(dynamo, tables.subscriptions).endpointHashes(
        project,
        person,
      );
      const userId = 'userId' in person ? person.userId : undefined;
      const removed = await eraseFound(subscriptions, project.ref, userId, found);
      const text = `Deleted ${subscriptionsText(removed, projectId, person)}\n`;
      print({ projectId, ...person, removed }, text);
    });
  });
}

function subscriptionsText(count: number, projectId: string, person: Person): string {
  return `subscriptions of "${nameOf(person)}" in "${projectId}": ${countText(count)}`;
}

function userIdArgument(): Argument {
  return new Argument('[userId]', 'user id, as the page has set it').argParser((userId) => {
    const { error } = userSchema.safeParse({ userId });
    if (error === undefined) return userId;
    throw new InvalidArgumentError(`It ${error.issues[0]!.message}.`);
  });
}

/** @throws {InvalidArgumentError} */
function readDevice(device: string): string {
  if (deviceIdPattern.test(device)) return device;
  throw new InvalidArgumentError('It has 43 characters of base64url.');
}

/** @throws {InvalidArgumentError} */
function readEndpoint(url: string): string {
  const { data, error } = unsubscribeSchema.safeParse({ endpoint: url });
  if (data !== undefined) return data.endpoint.href;
  throw new InvalidArgumentError(`It ${error.issues[0]!.message}.`);
}

/** What may be about the person, and is not in the export. */
const elsewhere = storedData
  .map(({ where, what, kept, exported }) => ({ where, what, kept, leftOut: exported }))
  .filter(({ leftOut }) => typeof leftOut === 'string');

type Stack = Pick<Context, 'registry' | 'dynamo' | 'tables'>;

/** What a project stores of a person, with the keys of the browsers. @throws {ProjectNotFound} */
async function subscriptionsOfPerson(stack: Stack, projectId: string, person: Person) {
  const { registry, dynamo, tables } = stack;
  const project = await keyedProject(stack, projectId);
  const { ref } = project;
  const users = userSubscriptions(dynamo, tables.subscriptions);
  const found: SubscriptionItem[] = [];
  for await (const hashes of await users.endpointHashes(project, person)) {
    const keys = hashes.map((hash) => subscriptionKey(ref, hash));
    found.push(...(await batchGet<SubscriptionItem>(dynamo, tables.subscriptions, keys)));
  }
  // Read last, so that it has the key of each subscription.
  const madeWith = applicationServerKeys(await registry.get(projectId));
  return (
    found
      // The index may still have a subscription that has passed to another user.
      .filter((item) => 'device' in person || item.projectUser === projectUser(ref, person.userId))
      .map((item) => {
        const { userId, channels = [], locale, ...others } = portableSubscription(ref, item);
        const { endpoint, keys, createdAt, updatedAt } = others;
        return {
          ...{ endpoint, keys, userId, channels, locale, createdAt, updatedAt },
          userSince: timeText(item.userSince),
          // Undefined if the project has dropped the key.
          applicationServerKey: madeWith.get(item.vapidPairNumber ?? 0),
          imported: item.imported,
          goneSince: timeText(item.goneSince),
        } satisfies Record<ExportedMember, unknown>;
      })
  );
}

/** @param time epoch ms. */
function timeText(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}

async function keyedProject({ dynamo, tables }: Stack, projectId: string): Promise<Project> {
  const projects = projectStore(dynamo, tables.projects, () => new Date());
  const project = await projects.find(projectId);
  if (project === undefined) throw new ProjectNotFound(projectId);
  return project;
}
