import { existsSync, statSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { Command, InvalidArgumentError, Option } from 'commander';
import { countOf, countText } from '../../contract/text/text.ts';
import { pushServiceOf } from '../../contract/wire/push-services.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { CommandError } from '../errors.ts';
import type { ProjectRegistry } from '../project-registry.ts';
import { pruneSubscriptions, subscriptionPages } from '../store/all-subscriptions.ts';
import { applicationServerKeys } from '../store/registered-projects.ts';
import { exportLine } from '../subscriptions/line.ts';
import { type Column, table } from '../terminal/table.ts';
import { printable, printableLines, type Terminal } from '../terminal/terminal.ts';
import {
  type Context,
  dryRunOption,
  projectCommand,
  type RunOnStack,
  readOrigin,
  readTime,
} from './command.ts';
import { importCommand } from './import.ts';

export function subscriptionsCommand(runOnStack: RunOnStack): Command {
  return new Command('subscriptions')
    .description('Imports, exports, counts or prunes the subscriptions of a project.')
    .addCommand(importCommand(runOnStack))
    .addCommand(exportCommand(runOnStack))
    .addCommand(countCommand(runOnStack))
    .addCommand(pruneCommand(runOnStack));
}

function exportCommand(runOnStack: RunOnStack): Command {
  return projectCommand(
    'export',
    'Writes all subscriptions of a project, one JSON object per line. Protect the file: it contains keys.',
    ...['my-site subscriptions.ndjson', 'my-site | gzip > backup.ndjson.gz'],
  )
    .argument('[file]', 'file to write; - writes to standard output', '-')
    .option('--yes', 'replace an existing file without asking')
    .action((projectId: string, file: string) =>
      runOnStack(async ({ registry, dynamo, tables, terminal, print, confirm, withBar, note }) => {
        await registry.get(projectId);
        if (file !== '-') await confirmReplacement(file, projectId, confirm);
        const { subscribers } = await registry.usage(projectId);
        const total = file === '-' ? 0 : subscribers;
        let exported = 0;
        await withBar('exporting', total, (update) => {
          async function* pages() {
            const table = tables.subscriptions;
            for await (const lines of exportPages(dynamo, table, registry, projectId)) {
              yield lines.join('');
              exported += lines.length;
              update(exported);
            }
          }
          return write(pages(), file, terminal);
        });
        note({ count: exported });
        if (file === '-') return;
        print(
          { projectId, file, exported },
          `Exported ${countOf(exported, 'subscription')} to ${printable(file)}.\n`,
        );
      }),
    );
}

/** A file and a pipe get the text as it is. */
function write(pages: AsyncIterable<string>, file: string, { output }: Terminal): Promise<void> {
  if (file !== '-') return writeCompleteFile(file, pages);
  const printed = Readable.from(pages).map((page: string) =>
    output.isTTY ? printableLines(page) : page,
  );
  return pipeline(printed, output, { end: false });
}

/** Hours of creation that are printed. */
const printedHours = 5;

function countCommand(runOnStack: RunOnStack): Command {
  return projectCommand(
    'count',
    `Counts the subscriptions of a project by push service, and by hour of creation: the ${printedHours} hours with most.`,
    ...['my-site', 'my-site --json'],
  ).action((projectId: string) =>
    runOnStack(async ({ registry, dynamo, tables, paint, print, next, withBar }) => {
      const { ref } = await registry.get(projectId);
      const { subscribers } = await registry.usage(projectId);
      const [origins, hours] = [new Map<string, number>(), new Map<string, number>()];
      const add = (counts: Map<string, number>, key: string) =>
        counts.set(key, (counts.get(key) ?? 0) + 1);
      let read = 0;
      await withBar('counting', subscribers, async (update) => {
        const selection = { ProjectionExpression: 'origin, createdAt' };
        for await (const items of subscriptionPages(dynamo, tables.subscriptions, ref, selection)) {
          for (const { origin, createdAt } of items) {
            add(origins, origin);
            add(hours, hourOf(createdAt));
          }
          read += items.length;
          update(read);
        }
      });
      const most = (counts: ReadonlyMap<string, number>): readonly CountedPart[] =>
        [...counts].sort(([, one], [, other]) => other - one);
      const byOrigin = most(origins);
      const latest = most(hours).slice(0, printedHours);
      const columnsOf = (title: string): readonly Column<CountedPart>[] => [
        [title, ([name]) => printable(name)],
        ['subscriptions', ([, count]) => countText(count), 'right'],
      ];
      const [[hour = hourOf(Date.now())] = []] = latest;
      const end = hourOf(Date.parse(hour) + hourMs);
      const prune = (criteria: string) =>
        `  ${next(`subscriptions prune ${projectId} ${criteria} --dry-run`)}\n`;
      print(
        {
          subscriptions: read,
          pushServices: Object.fromEntries(byOrigin),
          hours: Object.fromEntries(latest),
        },
        `${table(columnsOf('push service'), byOrigin.slice(0, shownOrigins), paint)}\n` +
          `${table(columnsOf('created from'), latest, paint)}\n` +
          'If the hour with most is junk, or a push service that no browser has, count first:\n\n' +
          prune(`--created-after ${hour} --created-before ${end}`) +
          byOrigin
            .filter(([origin]) => pushServiceOf(origin, []) === undefined)
            .slice(0, printedHours)
            .map(([origin]) => prune(`--push-origin ${origin}`))
            .join(''),
      );
    }),
  );
}

type CountedPart = readonly [name: string, count: number];

/** Push services that are printed: strangers choose their names. */
const shownOrigins = 20;

const hourMs = 60 * 60 * 1000;

/** The start of an hour, RFC 3339. */
function hourOf(time: number): string {
  return `${new Date(time).toISOString().slice(0, 'YYYY-MM-DDTHH'.length)}:00:00Z`;
}

const dayMs = 24 * hourMs;

/** The options of prune, as parsed, and in words. */
interface PruneOptions {
  readonly unseenDays?: number;
  readonly createdAfter?: Date;
  readonly createdBefore?: Date;
  readonly pushOrigin?: string;
  readonly failing?: 'gone_unconfirmed';
}

function pruneCommand(runOnStack: RunOnStack): Command {
  const command = projectCommand(
    'prune',
    'Removes subscriptions for which all that is given holds. Repeat it after an interruption: it continues.',
    ...['my-site --unseen-days 180 --dry-run', 'my-site --unseen-days 180'],
    'my-site --push-origin https://x.push.apple.com --created-after 2026-11-27T09:00:00Z',
    'my-site --failing gone_unconfirmed --dry-run',
  )
    .option(
      '--unseen-days <days>',
      'those whose last subscribe request is older: 30 days or more',
      readUnseenDays,
    )
    .option('--created-after <time>', 'those created then or later: RFC 3339', readTime)
    .option('--created-before <time>', 'those created before', readTime)
    .option('--push-origin <origin>', 'those whose endpoint has this origin', readOrigin)
    .addOption(
      new Option(
        '--failing <reason>',
        'those that the last send kept though their push service called them gone',
      ).choices(['gone_unconfirmed']),
    )
    .option(...dryRunOption)
    .option('--yes', 'remove without asking for confirmation')
    .action((projectId: string, options: PruneOptions) => {
      const { unseenDays, createdAfter, createdBefore, pushOrigin, failing } = options;
      const which = [
        ...(unseenDays === undefined ? [] : [`without a visit for ${countOf(unseenDays, 'day')}`]),
        ...(createdAfter ? [`created since ${createdAfter.toISOString()}`] : []),
        ...(createdBefore ? [`created before ${createdBefore.toISOString()}`] : []),
        ...(pushOrigin === undefined ? [] : [`at ${pushOrigin}`]),
        ...(failing === undefined ? [] : ['that a push service calls gone']),
      ].join(', ');
      if (which === '') {
        command.error(
          'Give at least one of --unseen-days, --created-after, --created-before, --push-origin, --failing.',
        );
      }
      return runOnStack(
        async ({ registry, dynamo, tables, yes, dryRun, print, confirm, withBar, note }) => {
          const { ref } = await registry.get(projectId);
          const { subscribers } = await registry.usage(projectId);
          const clock = () => new Date();
          const unwanted = {
            updatedBefore:
              unseenDays === undefined ? undefined : clock().getTime() - unseenDays * dayMs,
            createdAfter: createdAfter?.getTime(),
            createdBefore: createdBefore?.getTime(),
            origin: pushOrigin,
            goneBefore: failing && clock().getTime(),
          };
          const subscriptions = subscriptionStore(dynamo, tables, clock);
          const deps = { dynamo, table: tables.subscriptions, subscriptions };
          const prune = (onlyCounts: boolean) =>
            withBar(onlyCounts ? 'counting' : 'pruning', subscribers, (update) =>
              pruneSubscriptions(deps, ref, unwanted, onlyCounts, update),
            );
          const counted = dryRun || !yes ? await prune(true) : undefined;
          if (counted && !dryRun && counted.removed > 0) {
            const effect =
              `permanently deletes ${countOf(counted.removed, 'subscription')} of "${projectId}" ` +
              `and keeps ${countText(counted.kept)}`;
            await confirm({ effect, expected: projectId, refusal: 'Nothing was removed.' });
          }
          const isDone = dryRun || counted?.removed === 0;
          const { removed, kept } = counted && isDone ? counted : await prune(false);
          note({ count: removed });
          print(
            { dryRun, removed, kept },
            `${dryRun ? 'Would remove' : 'Removed'} ${countOf(removed, 'subscription')} ${which}; ` +
              `${countText(kept)} kept.\n`,
          );
        },
      );
    });
  return command;
}

/** @throws {InvalidArgumentError} */
function readUnseenDays(text: string): number {
  const days = Number(text);
  if (/^\d+$/.test(text) && days >= 30 && Number.isSafeInteger(days)) return days;
  throw new InvalidArgumentError('Use a whole number of days, 30 or more.');
}

/**
 * The lines of a project's subscriptions, page by page. Those whose application server key was dropped are left
 * out: nobody can push to them, and `rotate vapid --drop-previous` removes them.
 * @throws {ProjectNotFound}
 */
async function* exportPages(
  dynamo: DynamoDBDocumentClient,
  table: string,
  registry: Pick<ProjectRegistry, 'get'>,
  projectId: string,
): AsyncGenerator<readonly string[]> {
  const { ref } = await registry.get(projectId);
  for await (const items of subscriptionPages(dynamo, table, ref)) {
    // Read after the page, which may have subscriptions of a key that is newer than the page before.
    const keys = applicationServerKeys(await registry.get(projectId));
    yield items.flatMap((item) => {
      const key = keys.get(item.vapidPairNumber ?? 0);
      return key === undefined ? [] : [`${exportLine(ref, item, key)}\n`];
    });
  }
}

/** Asks before an existing file is replaced. What is no file is not replaced: {@link writeCompleteFile} refuses it. */
export async function confirmReplacement(
  file: string,
  projectId: string,
  confirm: Context['confirm'],
): Promise<void> {
  if (!existsSync(file) || !statSync(file).isFile()) return;
  const effect = `replaces the file ${printable(file)}`;
  await confirm({ effect, expected: projectId, refusal: 'Nothing was written.' });
}

/**
 * Writes a file that appears under its name when it is complete. Only its owner can read it. If the text fails, the
 * file is as it was.
 * @throws {CommandError} before anything of the text is read.
 */
export async function writeCompleteFile(file: string, text: AsyncIterable<string>): Promise<void> {
  const unfinished = `${file}.unfinished`;
  const opened = await openNew(file, unfinished).catch((cause: Error) => {
    const message = `Cannot write ${file}: ${cause.message}`;
    throw new CommandError('unwritable_file', message, { cause });
  });
  try {
    await pipeline(Readable.from(text), opened.createWriteStream());
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

async function openNew(file: string, unfinished: string) {
  // A directory could not be replaced in the end, and a device such as /dev/null must not be.
  const existing = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (existing?.isFile() === false) throw new Error('it is not a regular file.');
  await rm(unfinished, { force: true });
  return open(unfinished, 'wx', 0o600);
}
