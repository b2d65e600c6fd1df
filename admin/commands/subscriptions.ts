import { createReadStream, existsSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { countOf, countText } from '../../contract/count-text.ts';
import { projectStore } from '../../lambdas/store/projects.ts';
import { subscriptionStore } from '../../lambdas/store/subscriptions.ts';
import { CommandError, ProjectNotFound } from '../errors.ts';
import { writeCompleteFile } from '../subscriptions/complete-file.ts';
import { exportPages } from '../subscriptions/export-pages.ts';
import { batchImport } from '../subscriptions/import-batch.ts';
import { type ImportReport, importLines } from '../subscriptions/import-lines.ts';
import { lineReader } from '../subscriptions/line.ts';
import { pruneSubscriptions } from '../subscriptions/prune.ts';
import { textLines } from '../subscriptions/text-lines.ts';
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

function importCommand(runOnStack: RunOnStack): Command {
  return newCommand(
    'import',
    'Adds subscriptions, one JSON object per line: PushSubscription JSON, or an export. ' +
      'Repeat it after an interruption: it continues.',
    'my-site subscriptions.ndjson --dry-run',
    'my-site subscriptions.ndjson',
    'my-site --local < lines.ndjson',
  )
    .addArgument(projectIdArgument())
    .argument('[file]', 'file to read; - reads standard input', '-')
    .addOption(dryRunOption())
    .action((projectId: string, file: string, { dryRun }: DryRunOption) =>
      runOnStack(async ({ dynamo, tables, settings, terminal, paint, print, withBar }) => {
        const clock = () => new Date();
        const projects = projectStore(dynamo, tables.projects, clock);
        const project = await projects.find(projectId);
        if (project === undefined) throw new ProjectNotFound(projectId);
        const lines = textLines(file === '-' ? terminal.input : readFrom(file));
        const label = dryRun ? 'reading' : 'importing';
        const report = await withBar(label, await countLines(file), (onProgress) =>
          importLines(lines, {
            projectId,
            readLine: lineReader(project, settings.EXTRA_PUSH_ORIGINS, clock),
            importBatch: batchImport(dynamo, tables, projects, settings.SUBSCRIBER_CAP, dryRun),
            sleep,
            onProgress,
          }),
        );
        print({ projectId, dryRun, ...report }, reportText(report, paint) + dryRunText(dryRun));
        if (report.invalid + report.overCap > 0) throw incomplete(projectId, report);
      }),
    );
}

const columns = [{ title: 'lines', align: 'right' }, { title: 'push service' }] as const;

function reportText(report: ImportReport, paint: Paint): string {
  const { created, updated, unchanged, mistakes, invalid, withUserId, pushServices } = report;
  const lines = mistakes.map(({ line, message }) => `line ${line}: ${printable(message)}\n`);
  if (invalid > mistakes.length) {
    lines.push(`and ${countOf(invalid - mistakes.length, 'more invalid line')}\n`);
  }
  const [added, changed, same] = [created, updated, unchanged].map(countText);
  const origins = Object.entries(pushServices).sort(([, one], [, other]) => other - one);
  const rows = origins.map(([origin, count]) => [countText(count), origin]);
  return (
    `${lines.join('')}${added} added, ${changed} updated, ${same} unchanged; ${countText(withUserId)} with a user id.\n` +
    (rows.length > 0 ? `\n${table(columns, rows, paint)}` : '')
  );
}

function incomplete(projectId: string, { invalid, overCap }: ImportReport): CommandError {
  const reasons = [
    ...(invalid > 0 ? [countOf(invalid, 'invalid line')] : []),
    ...(overCap > 0
      ? [
          `${countOf(overCap, 'subscription')}, because project "${projectId}" has reached its subscriber cap: ` +
            'raise it with set --subscriber-cap and import again',
        ]
      : []),
  ];
  return new CommandError('import_incomplete', `Left out: ${reasons.join('; ')}.`);
}

/** 0 for standard input, and for a pipe: what cannot be read twice is not counted. */
async function countLines(file: string): Promise<number> {
  // The import says why a file cannot be read.
  const found = file === '-' ? undefined : await stat(file).catch(() => undefined);
  if (!found?.isFile()) return 0;
  let count = 0;
  for await (const chunk of readFrom(file)) {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) count += 1;
  }
  return count;
}

/** @throws {CommandError} */
async function* readFrom(file: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(file);
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
