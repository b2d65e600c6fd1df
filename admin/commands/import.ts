import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { countOf, countText } from '../../contract/text/text.ts';
import { type ChoiceName, choiceNames, conditionLists } from '../../contract/wire/fields.ts';
import { choiceNouns } from '../../contract/wording/field-texts.ts';
import { attributeOf } from '../../lambdas/store/items.ts';
import { projectStore } from '../../lambdas/store/projects.ts';
import { CommandError, ProjectNotFound } from '../errors.ts';
import { isProjectHeader } from '../project-file.ts';
import {
  batchImport,
  type ImportCounts,
  type ImportDependencies,
  type ImportedSubscription,
  importSubscriptions,
} from '../store/subscription-import.ts';
import { lineReader, type ReadLine } from '../subscriptions/line.ts';
import {
  joinedRows,
  ListColumns,
  type SkipReason,
  skipReasons,
} from '../subscriptions/list-columns.ts';
import { type ListFile, openList } from '../subscriptions/list-file.ts';
import { type Column, table } from '../terminal/table.ts';
import { type Paint, printable } from '../terminal/terminal.ts';
import { dryRunOption, projectCommand, type RunOnStack } from './command.ts';

interface ImportOptions {
  readonly channelsFromTags?: readonly string[];
  readonly applicationServerKey?: string;
}

export function importCommand(runOnStack: RunOnStack): Command {
  return projectCommand(
    'import',
    'Adds subscriptions from a list of another service, a library or an export: lines of JSON, a JSON array, or CSV ' +
      'with a header; also gzip. Repeat it after an interruption: it continues.',
    'my-site subscriptions.ndjson --dry-run',
    'my-site onesignal.csv.gz --channels-from-tags news,offers',
    'my-site --local < lines.ndjson',
  )
    .argument('[file]', 'file to read; - reads standard input', '-')
    .option('--channels-from-tags <names>', 'tags that become channels, with commas', readChannels)
    .option(
      '--application-server-key <key>',
      'key of the subscriptions, where the file has none (default: the current one of the project)',
    )
    .option(...dryRunOption)
    .action((projectId: string, file: string, options: ImportOptions) =>
      runOnStack(async (context) => {
        const { dynamo, tables, settings, terminal, dryRun, paint, print, withBar } = context;
        const clock = () => new Date();
        const projects = projectStore(dynamo, tables.projects, clock);
        const project = await projects.find(projectId);
        if (project === undefined) throw new ProjectNotFound(projectId);
        const { channelsFromTags, applicationServerKey } = options;
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
          const { source = 'Carillon', taken, unused, warning } = columns;
          const unread = [...unused];
          return { ...imported, list: { form, packing, source, taken, unused: unread, warning } };
        });
        print({ projectId, dryRun, ...report }, reportText(report, paint));
        refuseIncomplete(projectId, report);
      }),
    );
}

/** @throws {InvalidArgumentError} */
function readChannels(text: string): readonly string[] {
  const { data, error } = conditionLists.channel.safeParse(text.split(','));
  if (error !== undefined) throw new InvalidArgumentError(`Each ${error.issues[0]!.message}.`);
  return data;
}

/** How a list was read. */
interface ReadList extends Pick<ListFile, 'form' | 'packing'> {
  readonly source: string;
  /** Columns by what was taken from them. */
  readonly taken: Readonly<Record<string, string>>;
  readonly unused: readonly string[];
  readonly warning: string | undefined;
}

type Report = ImportReport & { readonly list: ReadList };

const columns: readonly Column<readonly [origin: string, rows: number]>[] = [
  ['lines', ([, rows]) => countText(rows), 'right'],
  ['push service', ([origin]) => origin],
];

/** What became of subscriptions that are not imported. */
export const erasedText = 'whose browsers were erased';

function reportText(report: Report, paint: Paint): string {
  const { created, updated, unchanged, erased, skipped, pushServices } = report;
  const kept = choiceNames
    .filter((name) => name === 'userId' || report.having[name] > 0)
    .map((name) => `${countText(report.having[name])} with ${choiceNouns[name]}`);
  const [added, changed, same] = [created, updated, unchanged].map(countText);
  const left = Object.entries(skipped).map(
    ([reason, rows]) => `  ${countText(rows)} ${skipReasons[reason as SkipReason]}\n`,
  );
  if (erased > 0) left.push(`  ${countText(erased)} ${erasedText}\n`);
  const origins = Object.entries(pushServices).sort(([, one], [, other]) => other - one);
  return (
    `${listText(report.list)}${mistakesText(report)}${added} added, ${changed} updated, ${same} unchanged; ` +
    `${kept.join(', ')}.\n` +
    (left.length > 0 ? `Rows left out:\n${left.join('')}` : '') +
    (origins.length > 0 ? `\n${table(columns, origins, paint)}` : '')
  );
}

/** Nothing for Carillon's own lines. */
function listText({ form, packing, source, taken, unused, warning }: ReadList): string {
  const found = Object.entries(taken).map(([field, column]) => `${field} from ${column}`);
  if (found.length === 0 && packing === '') return '';
  const of = source === 'Carillon' ? '' : ` of ${source}`;
  return (
    printable(
      `Read as ${form}${packing && ` (${packing})`}${of}${found.length > 0 ? `: ${found.join(', ')}` : ''}.`,
    ) +
    '\n' +
    (unused.length > 0 ? `Not used: ${printable(unused.join(', '))}.\n` : '') +
    (warning === undefined ? '' : `Warning: ${warning}\n`)
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
  const { created, updated, unchanged, erased, invalid, overCap, skipped } = report;
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
  if (created + updated + unchanged + erased === 0) {
    const isEmpty = Object.keys(skipped).length === 0;
    throw new CommandError(
      'nothing_imported',
      isEmpty ? 'The list has no rows.' : 'No row is a subscription that this project can use.',
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

/** `created`, `updated`, `unchanged`, `overCap`, `erased`, `invalid` and the counts in `skipped` add up to the rows. */
export interface ImportReport extends ImportCounts {
  readonly invalid: number;
  /** Rows that are no subscription of this project, by reason. */
  readonly skipped: Partial<Record<SkipReason, number>>;
  /** Rows whose subscription is stored, by the members of a choice that they have. */
  readonly having: Readonly<Record<ChoiceName, number>>;
  /** Rows whose subscription is stored, by the origin of their push service. */
  readonly pushServices: Readonly<Record<string, number>>;
  /** The first invalid rows. */
  readonly mistakes: readonly Mistake[];
}

export interface Mistake {
  /** On which it starts, from 1. */
  readonly line: number;
  /** Its number in an array. */
  readonly row?: number | undefined;
  readonly message: string;
}

export interface ImportListDependencies extends ImportDependencies {
  readonly readLine: ReadLine;
  readonly columns: ListColumns;
}

/** Invalid rows that a report names. */
const namedMistakes = 100;

/** Imports the rows of a list, without the invalid ones. See {@link importSubscriptions}. */
export async function importList(
  { form, rows }: Pick<ListFile, 'form' | 'rows'>,
  { readLine, columns, ...deps }: ImportListDependencies,
): Promise<ImportReport> {
  let invalid = 0;
  const having = Object.fromEntries(choiceNames.map((name) => [name, 0])) as Record<
    ChoiceName,
    number
  >;
  const skipped: Partial<Record<SkipReason, number>> = {};
  const pushServices: Record<string, number> = {};
  const mistakes: Mistake[] = [];
  const onStored = ({ origin, ...item }: ImportedSubscription) => {
    for (const name of choiceNames) if (item[attributeOf(name)] !== undefined) having[name] += 1;
    pushServices[origin] = (pushServices[origin] ?? 0) + 1;
  };
  const counts = await importSubscriptions(validItems(), { ...deps, onStored });
  return { ...counts, having, invalid, skipped, pushServices, mistakes };

  async function* validItems(): AsyncGenerator<ImportedSubscription> {
    for await (const row of joinedRows(rows)) {
      const read = 'value' in row ? readValue(row.value) : row;
      if ('skipped' in read) {
        skipped[read.skipped] = (skipped[read.skipped] ?? 0) + 1;
      } else if ('mistake' in read) {
        invalid += 1;
        const { line, row: number } = row;
        if (mistakes.length < namedMistakes)
          mistakes.push({ line, row: number, message: read.mistake });
      } else {
        yield read;
      }
    }
  }

  function readValue(value: unknown) {
    if (isProjectHeader(value)) {
      const message = 'The file is the export of a project: use the command import.';
      throw new CommandError('invalid_file', message);
    }
    // Carillon's own lines have no other fields: one that is mistyped must not be overlooked.
    const isOwn = form === 'JSON lines' && Object.hasOwn(Object(value), 'keys');
    const found = isOwn || Object(value) !== value ? undefined : columns.read(value as object);
    if (found === undefined) return readLine(value);
    if (!('line' in found)) return found;
    const item = readLine(found.line);
    return 'mistake' in item && item.isOtherKey ? ({ skipped: 'otherKey' } as const) : item;
  }
}
