import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { countOf, countText, shellString } from '../../contract/text/text.ts';
import { CommandError } from '../errors.ts';
import {
  type BackupKey,
  type FoundProject,
  findProjects,
  type RestoredProject,
  restoreProject,
} from '../restore.ts';
import { checkRestoredTables, secondText } from '../restored-tables.ts';
import { openConversation } from '../terminal/ask.ts';
import { newCommand } from '../terminal/command-line.ts';
import { formatTime } from '../terminal/table.ts';
import { printable } from '../terminal/terminal.ts';
import {
  type Context,
  dryRunOption,
  projectsOption,
  type RunOnStack,
  readTime,
} from './command.ts';
import { erasedText } from './import.ts';

interface Options {
  readonly at: Date;
  readonly project?: readonly string[];
  readonly keepKeys?: true;
  readonly newKeys?: true;
  readonly addSubscriptions?: true;
}

export function restoreCommand(runOnStack: RunOnStack): Command {
  return newCommand(
    'restore',
    'Copies projects from the tables of an earlier second, which tables restore --at has made. It only adds: a project that is missing, and what an existing one lacks of keys and counters; with --add-subscriptions also of subscriptions.',
    '--at 2026-11-20T08:00:00Z --project my-site --dry-run',
  )
    .requiredOption('--at <time>', 'the second of tables restore --at: RFC 3339', readTime)
    .addOption(
      projectsOption('only this project; can be given again (default: all of that second)'),
    )
    .addOption(
      new Option(
        '--keep-keys',
        'of missing projects: keep secret key and members, also those that were replaced or revoked since',
      ).conflicts('newKeys'),
    )
    .option('--new-keys', 'of missing projects: make a new secret key, and leave out the members')
    .option(
      '--add-subscriptions',
      'also add the subscriptions that existing projects lack: who has unsubscribed since is subscribed again',
    )
    .option('--yes', 'do not ask')
    .option(...dryRunOption)
    .action((options: Options) =>
      runOnStack(async (context) => {
        const { dynamo, tables, settings, dryRun, print, withBar } = context;
        const { at } = options;
        const backup = await checkRestoredTables(dynamo, tables, at);
        const deps = { dynamo, backup, tables, clock: () => new Date() };
        const found = await findProjects(deps, options.project);
        const inState = (...states: readonly string[]) =>
          found.filter(({ state }) => states.includes(state));
        const newKeys = await asksForKeys(context, options, inState('missing', 'lost'));
        const existing = inState('lost', 'exists').map(idOf);
        if (options.addSubscriptions && existing.length > 0 && !dryRun) {
          await context.confirm({
            effect: `adds to ${existing.join(', ')} the subscriptions ${asOf(at)}: who has unsubscribed since is subscribed again`,
            expected: 'add',
            label: 'word add',
            refusal: 'Nothing was restored.',
          });
        }
        const isRead = ({ state }: FoundProject) =>
          state === 'missing' || (options.addSubscriptions && state !== 'other');
        const total = found.reduce((sum, one) => sum + (isRead(one) ? one.subscribers : 0), 0);
        const restored: RestoredProject[] = [];
        const restoring = withBar(dryRun ? 'reading' : 'restoring', total, async (update) => {
          let before = 0;
          for (const one of found) {
            const how = {
              ...{ newKeys, dryRun: dryRun === true, random: randomBytes },
              addSubscriptions: options.addSubscriptions === true,
              pauses: true,
              deployedCap: settings.SUBSCRIBER_CAP,
              sleep: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, { signal }),
              onProgress: (read: number) => update(before + read),
            };
            restored.push(await restoreProject(deps, one, how));
            before += one.subscribers;
          }
        });
        // Also before a failure: new keys are printed only once.
        await restoring.finally(() => {
          const json = restored.map((project) => ({ ...project, dryRun }));
          print(json, restored.map((one) => restoredText(one, context)).join(''));
        });
        const incomplete = restored.filter(
          ({ project, overCap }) => project === 'other' || overCap > 0,
        );
        if (incomplete.length > 0) {
          const names = incomplete.map(({ projectId }) => projectId).join(', ');
          throw new CommandError('restore_incomplete', `Not fully restored: ${names}.`);
        }
      }),
    );
}

const idOf = ({ arriving }: FoundProject) => arriving.project.projectId;

/** @returns whether missing projects get new keys. */
async function asksForKeys(
  { terminal, dryRun }: Context,
  { at, keepKeys, newKeys }: Options,
  missing: readonly FoundProject[],
): Promise<boolean> {
  if (keepKeys || newKeys || dryRun || missing.length === 0) return newKeys === true;
  const members = missing.flatMap((one) =>
    Object.keys(one.arriving.project.members).map((name) => `${printable(name)} (${idOf(one)})`),
  );
  const question =
    `Missing, and to be created ${asOf(at)}: ${missing.map(idOf).join(', ')}.\n` +
    '  keep  secret keys and members are valid as they were then: also those that were replaced or revoked since\n' +
    '  new   each gets a new secret key, and no members\n' +
    `Members then: ${members.join(', ') || 'none'}.\n` +
    'Which keys? Type keep or new: ';
  const flags = '--keep-keys or --new-keys';
  const answer = await openConversation(terminal, false).ask(question, flags);
  if (answer !== 'keep' && answer !== 'new') {
    throw new CommandError('not_confirmed', 'Nothing was restored.');
  }
  return answer === 'new';
}

/** A second, and how long ago that is. */
function asOf(second: Date): string {
  const hours = (Date.now() - second.getTime()) / (60 * 60 * 1000);
  const age =
    hours < 48 ? countOf(Math.round(hours), 'hour') : countOf(Math.round(hours / 24), 'day');
  return `as of ${formatTime(secondText(second))}, ${age} ago`;
}

function restoredText(
  {
    projectId,
    project,
    overCap,
    erased,
    keyDropped,
    filled,
    secretKey,
    validAgain,
    stillRevoked,
    ...counted
  }: RestoredProject,
  { paint, dryRun, next }: Pick<Context, 'paint' | 'dryRun' | 'next'>,
): string {
  if (project === 'other') return `${projectId}: a later project has this id, nothing restored\n`;
  const counts = [
    ...(filled.length > 0 ? [`filled ${filled.map((what) => names[what]).join(', ')}`] : []),
    `${countOf(counted.created, 'subscription')} added`,
    `${countText(counted.updated)} updated`,
    `${countText(counted.unchanged)} unchanged`,
    ...(overCap > 0 ? [`${countText(overCap)} above the cap`] : []),
    ...(erased > 0 ? [`${countText(erased)} left out ${erasedText}`] : []),
    ...(keyDropped > 0 ? [`${countText(keyDropped)} of a dropped key left out`] : []),
  ];
  const lines = [
    `${projectId}: project ${project}, ${counts.join(', ')}`,
    ...(secretKey === undefined
      ? []
      : [`  Its secret key, printed only once: ${paint('yellow', secretKey)}`]),
    ...(stillRevoked.length === 0
      ? []
      : [`  Ended since the backup, and not valid again: ${stillRevoked.map(keyText).join(', ')}`]),
    ...(validAgain.length === 0
      ? []
      : [`  Valid as in the backup, also if ended since: ${validAgain.map(keyText).join(', ')}`]),
  ];
  const text = `${lines.join('\n')}\n`;
  if (project !== 'created' || dryRun) return text;
  const isPaused = counted.pausedAt !== undefined;
  const calls = [
    ...validAgain.map((key) => endingCall(projectId, key)),
    ...(isPaused ? [`resume ${projectId}`] : []),
  ];
  const typed = [...new Set(calls)].map((call) => `    ${next(call)}\n`).join('');
  return (
    `${text}  Subscribed as in the backup: also who has unsubscribed since.\n` +
    (typed === ''
      ? ''
      : `  ${isPaused ? 'It is paused, so that no ended key sends. ' : ''}Next, as far as it applies:\n\n${typed}\n`)
  );
}

function keyText(key: BackupKey): string {
  return key.kind === 'memberKey'
    ? `member key of ${printable(key.name)} (${key.role})`
    : keyTexts[key.kind];
}

const keyTexts = {
  secretKey: 'secret key',
  previousSecretKey: 'previous secret key',
  identityKey: 'identity key',
} as const;

/** Ends a key. */
function endingCall(projectId: string, key: BackupKey): string {
  if (key.kind === 'memberKey') return `revoke ${projectId} ${shellString(key.name)}`;
  return key.kind === 'identityKey'
    ? `rotate ${projectId} identity --grace 0`
    : `rotate ${projectId} secret --revoke`;
}

const names: Readonly<Record<RestoredProject['filled'][number], string>> = {
  vapidKey: 'its VAPID keys',
  identityKey: 'its identity key',
  counters: 'its counters',
};
