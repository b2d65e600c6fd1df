import { Argument, Command, InvalidArgumentError } from 'commander';
import { countOf, countText, shellString } from '../../contract/text/text.ts';
import { deviceIdPattern } from '../../contract/wire/formats.ts';
import type { Project } from '../../contract/wire/project.ts';
import { unsubscribeSchema } from '../../contract/wire/subscription.ts';
import { userSchema } from '../../contract/wire/user.ts';
import { type ExportedMember, storedData } from '../../contract/wording/stored-data.ts';
import { eraseFound, userSubscriptions } from '../../lambdas/store/audience.ts';
import { auditSubject } from '../../lambdas/store/audit.ts';
import { batchGet } from '../../lambdas/store/dynamo.ts';
import {
  deviceIdOf,
  erasureKey,
  hashOfDevice,
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
import { allProjectIds, type Context, projectsOption, type RunOnStack } from './command.ts';

export function usersCommand(runOnStack: RunOnStack): Command {
  return new Command('users')
    .description('Finds, exports or deletes what is stored about one person.')
    .addCommand(findCommand(runOnStack))
    .addCommand(exportCommand(runOnStack))
    .addCommand(deleteCommand(runOnStack));
}

/** Whose data: those of a user id, or of one browser. */
export type Person = { readonly userId: string } | { readonly device: string };

export interface PersonOptions {
  readonly device?: string;
  readonly endpoint?: string;
}

/** Lets a command name a person. @returns what reads the name. */
export function namingPerson(command: Command) {
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

/** Names the person to another command. */
function optionOf(person: Person): string {
  return 'userId' in person ? shellString(person.userId) : `--device=${person.device}`;
}

interface ProjectsOptions {
  readonly project?: readonly string[];
  readonly allProjects?: true;
}

/** Lets a command name projects. The same user id may be another person in another project: all of them only if asked for. */
function namingProjects(command: Command) {
  command
    .addOption(projectsOption('in this project; can be given again').conflicts('allProjects'))
    .option('--all-projects', 'in all projects');
  return ({ project, allProjects }: ProjectsOptions) => {
    if (project === undefined && allProjects === undefined) {
      command.error(
        'give --project <projectId>, or --all-projects; users find says which have the person',
      );
    }
  };
}

function whereOption(projectIds: readonly string[]): string {
  return projectIds.map((projectId) => `--project ${projectId}`).join(' ');
}

/** Default: all. */
async function projectIdsOf(stack: Stack, { project }: ProjectsOptions) {
  return project ?? allProjectIds(stack);
}

function findCommand(runOnStack: RunOnStack): Command {
  const command = newCommand(
    'find',
    'Finds a person in all projects. Exit code 1: nobody is found.',
    ...['ada', '--endpoint https://updates.push.services.mozilla.com/wpush/v2/gAAA'],
  );
  const read = namingPerson(command);
  return command.action((userId: string | undefined, options: PersonOptions) => {
    const person = read(userId, options);
    return runOnStack(async ({ paint, print, next, ...stack }) => {
      const found = await subscriptionsIn(stack, await projectIdsOf(stack, {}), person);
      if (found.length === 0) {
        const erased = await projectsThatErased(stack, await projectIdsOf(stack, {}), person);
        const name = printable(options.endpoint ?? nameOf(person));
        const reason =
          erased.length === 0
            ? 'Other ways: a user id, --device, --endpoint, another --stack.'
            : `Erased in ${erased.join(', ')}: the browser comes back only when its visitor subscribes.`;
        throw new CommandError('nobody_found', `No project has "${name}". ${reason}`);
      }
      const these = `${optionOf(person)} ${whereOption(projectsOf(found))}`;
      print(
        found,
        `${countOf(found.length, 'subscription')} of "${nameOf(person)}":\n\n` +
          `${table(columns, found, paint)}\nAll that is stored, and its erasure:\n\n` +
          `  ${next(`users export ${these} --json`)}\n  ${next(`users delete ${these}`)}\n`,
      );
    });
  });
}

function exportCommand(runOnStack: RunOnStack): Command {
  const command = newCommand(
    'export',
    'Prints the subscriptions of a person, with --json also the keys of the browsers; and what it leaves out, and why: docs/privacy.md.',
    ...['ada --project my-site --json', 'ada --all-projects'],
  );
  const read = namingPerson(command);
  const readProjects = namingProjects(command);
  return command.action((userId: string | undefined, options: PersonOptions & ProjectsOptions) => {
    const person = read(userId, options);
    readProjects(options);
    return runOnStack(async ({ paint, print, note, ...stack }) => {
      const projectIds = await projectIdsOf(stack, options);
      const subscriptions = await subscriptionsIn(stack, projectIds, person);
      for (const projectId of projectIds) {
        const subject = auditSubject(await keyedProject(stack, projectId), person);
        const { length } = subscriptions.filter((one) => one.projectId === projectId);
        note({ projectId, subject, count: length });
      }
      print(
        { ...person, projectIds, subscriptions, elsewhere },
        `Stored ${subscriptionsText(subscriptions.length, projectIds, person)}\n` +
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
  ['project', ({ projectId }) => projectId],
  ['user id', ({ userId = '' }) => printable(userId)],
  ['endpoint', ({ endpoint }) => printable(endpoint)],
  ['channels', ({ channels }) => channels.join(' ')],
  ['consent', ({ consent = '' }) => printable(consent)],
  ['first', ({ firstAt }) => formatTime(firstAt)],
  ['created', ({ createdAt }) => formatTime(createdAt)],
  ['updated', ({ updatedAt }) => formatTime(updatedAt)],
];

function deleteCommand(runOnStack: RunOnStack): Command {
  const command = newCommand(
    'delete',
    'Erases all subscriptions of a user id, or of one browser. They come back only when the visitor subscribes.',
    ...['ada --project my-site', 'ada --all-projects --yes --json'],
  ).option('--yes', 'delete without asking for confirmation');
  const read = namingPerson(command);
  const readProjects = namingProjects(command);
  return command.action((userId: string | undefined, options: PersonOptions & ProjectsOptions) => {
    const person = read(userId, options);
    readProjects(options);
    return runOnStack(async (context) => {
      const { print, confirm } = context;
      const projectIds = await projectIdsOf(context, options);
      const found = await subscriptionsIn(context, projectIds, person);
      const stored = subscriptionsText(found.length, projectsOf(found), person);
      await confirm({
        effect: `permanently deletes ${stored}`,
        ...('userId' in person
          ? { expected: person.userId, label: 'user id' }
          : { expected: 'delete', label: 'word delete' }),
        refusal: 'Nothing was deleted.',
      });
      let removed = 0;
      for (const projectId of projectIds) removed += await erase(context, projectId, person);
      print(
        { ...person, projectIds, removed },
        `Deleted ${subscriptionsText(removed, projectsOf(found), person)}\n` +
          (removed > 0 ? waitingText : ''),
      );
    });
  });
}

const waitingText =
  'Notifications that wait at a push service for the browser may still arrive, until their ttl ends.\n';

/** Also what was stored since it was listed. @returns how many subscriptions. */
async function erase(context: Context, projectId: string, person: Person): Promise<number> {
  const { dynamo, tables, note } = context;
  const project = await keyedProject(context, projectId);
  const subject = auditSubject(project, person);
  // Also if it fails.
  note({ projectId, subject });
  const subscriptions = subscriptionStore(dynamo, tables, () => new Date());
  const users = userSubscriptions(dynamo, tables.subscriptions);
  const found = await users.endpointHashes(project, person);
  const userId = 'userId' in person ? person.userId : undefined;
  const count = await eraseFound(subscriptions, project.ref, userId, found);
  note({ projectId, subject, count });
  return count;
}

function projectsOf(found: readonly StoredSubscription[]): readonly string[] {
  return [...new Set(found.map(({ projectId }) => projectId))];
}

function subscriptionsText(count: number, projectIds: readonly string[], person: Person): string {
  const where = projectIds.length === 0 ? '' : ` in ${projectIds.join(', ')}`;
  return `subscriptions of "${nameOf(person)}"${where}: ${countText(count)}`;
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

/** What projects store of a person. @throws {ProjectNotFound} */
async function subscriptionsIn(stack: Stack, projectIds: readonly string[], person: Person) {
  const found: StoredSubscription[] = [];
  for (const projectId of projectIds) {
    found.push(...(await subscriptionsOfPerson(stack, projectId, person)));
  }
  return found;
}

/** The projects in which a browser was erased, after which they have nothing else of it. */
export async function projectsThatErased(
  stack: Stack,
  projectIds: readonly string[],
  person: Person,
): Promise<readonly string[]> {
  if (!('device' in person)) return [];
  const { dynamo, tables } = stack;
  const erased: string[] = [];
  for (const projectId of projectIds) {
    const project = await keyedProject(stack, projectId);
    const keys = [erasureKey(project.ref, hashOfDevice(project, person.device))];
    if ((await batchGet(dynamo, tables.subscriptions, keys)).length > 0) erased.push(projectId);
  }
  return erased;
}

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
        const portable = portableSubscription(ref, item);
        const stored = {
          ...portable,
          channels: portable.channels ?? [],
          userSince: timeText(item.userSince),
          // Undefined if the project has dropped the key.
          applicationServerKey: madeWith.get(item.vapidPairNumber ?? 0),
          imported: item.imported,
          goneSince: timeText(item.goneSince),
        } satisfies Record<ExportedMember, unknown>;
        return { projectId, ...stored };
      })
  );
}

/** @param time epoch ms. */
function timeText(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}

export async function keyedProject({ dynamo, tables }: Stack, projectId: string): Promise<Project> {
  const projects = projectStore(dynamo, tables.projects, () => new Date());
  const project = await projects.find(projectId);
  if (project === undefined) throw new ProjectNotFound(projectId);
  return project;
}
