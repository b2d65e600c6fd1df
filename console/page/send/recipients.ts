import { CsvError, parse } from 'csv-parse/sync';
import { countOf } from '../../../contract/text/text.ts';
import type { SendRequest } from '../../../contract/wire/notification.ts';

/** Recipients with their values, from a table as spreadsheets copy and save it. */

export type Recipient = NonNullable<SendRequest['recipients']>[number];

interface Table {
  /** Of the values: the first row, without the column of the user ids. */
  readonly names: readonly string[];
  /** The name of that column, if it is called otherwise. */
  readonly idName?: string;
  readonly recipients: Recipient[];
  /** What is wrong with its form, as a sentence without an end. */
  readonly issue?: string;
}

/**
 * A table of cells between tabs, commas or semicolons. The first row has names. The user ids are in the column that is
 * called so, otherwise in the first one.
 */
export function readTable(text: string): Table {
  const [firstLine = ''] = text.trimStart().split('\n');
  const delimiter = [...'\t,;'].find((one) => firstLine.includes(one)) ?? ',';
  const options = {
    delimiter,
    bom: true,
    trim: true,
    skip_empty_lines: true,
    relax_column_count: true,
    // What spreadsheets copy has quotes only around cells with line breaks.
    relax_quotes: delimiter === '\t',
  };
  try {
    const [header = [], ...rows] = parse(text, options) as string[][];
    const idAt = Math.max(0, header.map(claimOf).indexOf(sure));
    const valuesOf = (cells: string[]) => cells.toSpliced(idAt, 1);
    const names = valuesOf(header);
    const issue = rows.length > 0 ? formIssue(header, idAt, rows) : undefined;
    if (issue !== undefined) return { names, recipients: [], issue };
    const recipients = rows.map((cells) => ({
      userId: cells[idAt]!,
      values: Object.fromEntries(names.map((name, at) => [name, valuesOf(cells)[at]])),
    }));
    const idName = header[idAt];
    return { names, recipients, ...(idName && claimOf(idName) < sure && { idName }) };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const issue = error.code === 'CSV_QUOTE_NOT_CLOSED' ? unclosed : quoted;
    return { names: [], recipients: [], issue };
  }
}

const quoted = 'Put a cell with a quote between quotes, and double the quote inside: "5"" pipe"';
const unclosed = 'A quote begins a cell, and none ends it';

/** A name that says that its column has the user ids. */
const sure = 3;

/** How much a name says so: `user_id` 3, `Customer` or `email` 2, `orderId` 1, others 0. */
function claimOf(name: string): number {
  const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  if (/^user[^a-z]*ids?$/.test(words)) return sure;
  if (/\b(user|customer|client|member|subscriber|account|external|login|uid|e-?mail)/.test(words))
    return 2;
  return /\b(u|gu|uu)?ids?$/.test(words.replaceAll('_', ' ')) ? 1 : 0;
}

function formIssue(header: readonly string[], idAt: number, rows: readonly string[][]) {
  const claims = header.map(claimOf);
  const unnamed = header.findIndex((name, at) => name === '' && at !== idAt);
  const repeated = header.find((name, at) => header.indexOf(name) < at);
  const ragged = rows.findIndex(({ length }) => length !== header.length);
  const other = header.find(
    (_, at) => at !== idAt && (claims[at] === sure || claims[at]! > claims[idAt]!),
  );
  if (header.length < 2) return 'Add a column with a value, and its name in the first row';
  if (unnamed >= 0) return `Column ${unnamed + 1} has no name in the first row`;
  if (repeated !== undefined) return `Two columns are called “${repeated}”`;
  if (other !== undefined)
    return `“${header[idAt]}” or “${other}”: call the column with the user ids “userId”, and the other one differently`;
  if (ragged < 0) return undefined;
  const { length } = rows[ragged]!;
  return `Row ${ragged + 2} has ${countOf(length, 'cell')}, and the first row has ${header.length}`;
}

/** What is wrong with a table. @param used names of the values that the texts use. */
export function tableIssue(text: string, used: readonly string[]): string | undefined {
  const { names, recipients, issue } = readTable(text);
  if (issue !== undefined || recipients.length === 0) return issue;
  const missing = used.find((name) => !names.includes(name));
  if (missing) return `No column is called “${missing}”: the names are in the first row`;
  const empty = (name: string) => recipients.findIndex(({ values }) => values![name] === '');
  const holed = used.find((name) => empty(name) >= 0);
  return holed && `Row ${empty(holed) + 2} has no “${holed}”, which your texts use`;
}
