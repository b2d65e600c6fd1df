import { createReadStream, existsSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { countOf, countText } from '../../contract/count-text.ts';
import { channels } from '../../contract/schemas/fields.ts';
import { pruneSubscriptions } from '../../lambdas/store/all-subscriptions.ts';
import { projectStore } from '../../lambdas/store/projects.ts';
import { batchImport } from '../../lambdas/store/subscription-import.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { CommandError, ProjectNotFound } from '../errors.ts';
import { writeCompleteFile } from '../subscriptions/complete-file.ts';
import { exportPages } from '../subscriptions/export-pages.ts';
import { type ImportReport, importList } from '../subscriptions/import.ts';
import { lineReader } from '../subscriptions/line.ts';
import { ListColumns, type SkipReason, skipReasons } from '../subscriptions/list-columns.ts';
import { type ListFile, openList } from '../subscriptions/list-file.ts';
import { newCommand } from '../terminal/command-line.ts';
import { printable, printableLines } from '../terminal/printable.ts';
import { table } from '../terminal/table.ts';
import type { Paint, Terminal } from '../terminal/terminal.ts';
import {
  type DryRunOption,
  dryRunOption,
  dryRunText,
  projectIdArgument,
  type RunOnStack,
  type YesOption,
} from './command.ts';

export function subscriptionsCommand(runOnStack: RunOnStack): Command {
  return new Command('subscriptions')
    .description('Imports, exports or prunes the subscriptions of a project.')
    .addCommand(importCommand(runOnStack))
    .addCommand(exportCommand(runOnStack))
    .addCommand(pruneCommand(runOnStack));
}

interface ImportOptions extends DryRunOption {
  readonly channelsFromTags?: readonly string[];
  readonly applicationServerKey?: string;
}

function importCommand(runOnStack: RunOnStack): Command {
  return newCommand(
    'import',
    'Adds subscriptions from a list of another service, a library or an export: lines of JSON, a JSON array, or CSV ' +
      'with a header; also gzip. Repeat it after an interruption: it continues.',
    'my-site subscriptions.ndjson --dry-run',
    'my-site onesignal.csv.gz --channels-from-tags news,offers',
    'my-site --local < lines.ndjson',
  )
    .addArgument(projectIdArgument())
    .argument('[file]', 'file to read; - reads standard input', '-')
    .option('--channels-from-tags <names>', 'tags that become channels, with commas', readChannels)
    .option(
      '--application-server-key <key>',
      'key of the subscriptions, where the file has none (default: the current one of the project)',
    )
    .addOption(dryRunOption())
    .action((projectId: string, file: string, options: ImportOptions) =>
      runOnStack(async ({ dynamo, tables, settings, terminal, paint, print, withBar }) => {
        const clock = () => new Date();
        const projects = projectStore(dynamo, tables.projects, clock);
        const project = await projects.find(projectId);
        if (project === undefined) throw new ProjectNotFound(projectId);
        const { dryRun, channelsFromTags, applicationServerKey } = options;
        const label = dryRun ? 'reading' : 'importing';
        const report = await withBar(label, await megabytesOf(file), async (update) => {
          const list = await openList(
            file === '-' ? terminal.input : readFrom(file, (bytes) => update(megabytes(bytes))),
          );
          const { form, packing } = list;
          const columns = new ListColumns(channelsFromTags, list.columns);
          const imported = await importList(list, {
            projectId,
            columns,
            readLine: lineReader(project, settings.EXTRA_PUSH_ORIGINS, clock, applicationServerKey),
            importBatch: batchImport(dynamo, tables, projects, settings.SUBSCRIBER_CAP, dryRun),
            sleep,
          });
          const { source = 'Carillon', taken, unused } = columns;
          return { ...imported, list: { form, packing, source, taken, unused: [...unused] } };
        });
        print({ projectId, dryRun, ...report }, reportText(report, paint) + dryRunText(dryRun));
        refuseIncomplete(projectId, report);
      }),
    );
}

/** @throws {InvalidArgumentError} */
function readChannels(text: string): readonly string[] {
  const { data, error } = channels(1).safeParse(text.split(','));
  if (error !== undefined) throw new InvalidArgumentError(`Each ${error.issues[0]!.message}.`);
  return data;
}

/** How a list was read. */
interface ReadList extends Pick<ListFile, 'form' | 'packing'> {
  readonly source: string;
  /** Columns by what was taken from them. */
  readonly taken: Readonly<Record<string, string>>;
  readonly unused: readonly string[];
}

type Report = ImportReport & { readonly list: ReadList };

const columns = [{ title: 'lines', align: 'right' }, { title: 'push service' }] as const;

function reportText(report: Report, paint: Paint): string {
  const { created, updated, unchanged, withUserId, withChannels, skipped, pushServices } = report;
  const [added, changed, same] = [created, updated, unchanged].map(countText);
  const left = Object.entries(skipped).map(
    ([reason, rows]) => `  ${countText(rows)} ${skipReasons[reason as SkipReason]}\n`,
  );
  const origins = Object.entries(pushServices).sort(([, one], [, other]) => other - one);
  const rows = origins.map(([origin, count]) => [countText(count), origin]);
  return (
    `${listText(report.list)}${mistakesText(report)}${added} added, ${changed} updated, ${same} unchanged; ` +
    `${countText(withUserId)} with a user id${withChannels > 0 ? `, ${countText(withChannels)} with channels` : ''}.\n` +
    (left.length > 0 ? `Rows left out:\n${left.join('')}` : '') +
    (rows.length > 0 ? `\n${table(columns, rows, paint)}` : '')
  );
}

/** Nothing for Carillon's own lines. */
function listText({ form, packing, source, taken, unused }: ReadList): string {
  const found = Object.entries(taken).map(([field, column]) => `${field} from ${column}`);
  if (found.length === 0 && packing === '') return '';
  const of = source === 'Carillon' ? '' : ` of ${source}`;
  return (
    printable(
      `Read as ${form}${packing && ` (${packing})`}${of}${found.length > 0 ? `: ${found.join(', ')}` : ''}.`,
    ) +
    '\n' +
    (unused.length > 0 ? `Not used: ${printable(unused.join(', '))}.\n` : '')
  );
}

function mistakesText({ mistakes, invalid }: ImportReport): string {
  const lines = mistakes.map(
    ({ line, row, message }) =>
      `${row === undefined ? '' : `row ${row}, `}line ${line}: ${printable(message)}\n`,
  );
  if (invalid > mistakes.length) {
    lines.push(`and ${countOf(invalid - mistakes.length, 'more invalid line')}\n`);
  }
  return lines.join('');
}

/** @throws {CommandError} */
function refuseIncomplete(projectId: string, report: ImportReport): void {
  const { created, updated, unchanged, invalid, overCap, skipped } = report;
  const reasons = [
    ...(invalid > 0 ? [countOf(invalid, 'invalid line')] : []),
    ...(overCap > 0
      ? [
          `${countOf(overCap, 'subscription')}, because project "${projectId}" has reached its subscriber cap: ` +
            'raise it with set --subscriber-cap and import again',
        ]
      : []),
  ];
  if (reasons.length > 0) {
    throw new CommandError('import_incomplete', `Left out: ${reasons.join('; ')}.`);
  }
  if (created + updated + unchanged === 0 && Object.keys(skipped).length > 0) {
    throw new CommandError(
      'nothing_imported',
      'No row is a subscription that this project can use.',
    );
  }
}

const megabytes = (bytes: number) => Math.ceil(bytes / 1e6);

/** 0 for standard input, and for a pipe. */
async function megabytesOf(file: string): Promise<number> {
  // The import says why a file cannot be read.
  const found = file === '-' ? undefined : await stat(file).catch(() => undefined);
  return found?.isFile() ? megabytes(found.size) : 0;
}

/** @param onRead is called with the bytes read so far. @throws {CommandError} */
async function* readFrom(file: string, onRead: (bytes: number) => void): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(file)) {
      yield chunk;
      bytes += chunk.length;
      onRead(bytes);
    }
  } catch (error) {
    throw new CommandError('unreadable_file', `Cannot read ${file}: ${(error as Error).message}`);
  }
}

function exportCommand(runOnStack: RunOnStack): Command {
  return newCommand(
    'export',
    'Writes all subscriptions of a project, one JSON object per line. Protect the file: it contains keys.',
    ...['my-site subscriptions.ndjson', 'my-site | gzip > backup.ndjson.gz'],
  )
    .addArgument(projectIdArgument())
    .argument('[file]', 'file to write; - writes to standard output', '-')
    .option('--yes', 'replace an existing file without asking')
    .action((projectId: string, file: string, { yes }: YesOption) =>
      runOnStack(async ({ registry, dynamo, tables, terminal, print, ...context }) => {
        await registry.get(projectId);
        if (file !== '-' && existsSync(file) && statSync(file).isFile()) {
          const effect = `replaces the file ${printable(file)}`;
          const refusal = 'Nothing was written.';
          await context.confirm({ effect, expected: projectId, refusal, yes });
        }
        const { subscribers } = await registry.usage(projectId);
        const total = file === '-' ? 0 : subscribers;
        let exported = 0;
        await context.withBar('exporting', total, (update) => {
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
  const shown = Readable.from(pages).map((page: string) =>
    output.isTTY ? printableLines(page) : page,
  );
  return pipeline(shown, output, { end: false });
}

interface PruneOptions extends YesOption, DryRunOption {
  readonly unseenDays: number;
}

const dayMs = 24 * 60 * 60 * 1000;

function pruneCommand(runOnStack: RunOnStack): Command {
  return newCommand(
    'prune',
    'Removes the subscriptions of browsers that have not visited the site for long. Repeat it after an interruption: it continues.',
    ...['my-site --unseen-days 180 --dry-run', 'my-site --unseen-days 180'],
  )
    .addArgument(projectIdArgument())
    .requiredOption(
      '--unseen-days <days>',
      'remove those whose last subscribe request is older: 30 days or more',
      readUnseenDays,
    )
    .addOption(dryRunOption())
    .option('--yes', 'remove without asking for confirmation')
    .action((projectId: string, { unseenDays, dryRun, yes }: PruneOptions) =>
      runOnStack(async ({ registry, dynamo, tables, print, confirm, withBar }) => {
        const { ref } = await registry.get(projectId);
        const { subscribers } = await registry.usage(projectId);
        const clock = () => new Date();
        const before = clock().getTime() - unseenDays * dayMs;
        const subscriptions = subscriptionStore(dynamo, tables, clock);
        const deps = { dynamo, table: tables.subscriptions, subscriptions };
        const prune = (onlyCounts: boolean) =>
          withBar(onlyCounts ? 'counting' : 'pruning', subscribers, (update) =>
            pruneSubscriptions(deps, ref, before, onlyCounts, update),
          );
        const counted = dryRun || !yes ? await prune(true) : undefined;
        if (counted && !dryRun && counted.removed > 0) {
          const effect =
            `permanently deletes ${countOf(counted.removed, 'subscription')} of "${projectId}" ` +
            `and keeps ${countText(counted.kept)}`;
          await confirm({ effect, expected: projectId, refusal: 'Nothing was removed.', yes });
        }
        const isDone = dryRun || counted?.removed === 0;
        const { removed, kept } = counted && isDone ? counted : await prune(false);
        print(
          { removed, kept },
          `${dryRun ? 'Would remove' : 'Removed'} ${countOf(removed, 'subscription')} without a visit for ` +
            `${countOf(unseenDays, 'day')}; ${countText(kept)} kept.\n${dryRunText(dryRun)}`,
        );
      }),
    );
}

/** @throws {InvalidArgumentError} */
function readUnseenDays(text: string): number {
  const days = Number(text);
  if (/^\d+$/.test(text) && days >= 30 && Number.isSafeInteger(days)) return days;
  throw new InvalidArgumentError('Use a whole number of days, 30 or more.');
}
