import { CsvError, parse } from 'csv-parse/sync';
import { countOf } from '../../../contract/text/text.ts';
import type { SendRequest } from '../../../contract/wire/notification.ts';

/** Recipients with their values, from a table as spreadsheets copy and save it. */

export type Recipient = NonNullable<SendRequest['recipients']>[number];

interface Table {
  /** Of the values: the first cell of the first row is that of the user ids. */
  readonly names: readonly string[];
  readonly recipients: Recipient[];
  /** What is wrong with its form, as a sentence without an end. */
  readonly issue?: string;
}

/** A table of cells between tabs, commas or semicolons. The first row has names, the first column user ids. */
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
    const [[, ...names] = [], ...rows] = parse(text, options) as string[][];
    const recipients = rows.map(([userId = '', ...cells]) => ({
      userId,
      values: Object.fromEntries(names.map((name, at) => [name, cells[at]])),
    }));
    const issue = rows.length > 0 ? formIssue(names, rows) : undefined;
    return { names, recipients, ...(issue && { issue }) };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return {
      names: [],
      recipients: [],
      issue: error.code === 'CSV_QUOTE_NOT_CLOSED' ? unclosed : quoted,
    };
  }
}

const quoted = 'Put a cell with a quote between quotes, and double the quote inside: "5"" pipe"';
const unclosed = 'A quote begins a cell, and none ends it';

function formIssue(names: readonly string[], rows: readonly string[][]): string | undefined {
  const unnamed = names.indexOf('');
  const repeated = names.find((name, at) => names.indexOf(name) < at);
  const ragged = rows.findIndex(({ length }) => length !== names.length + 1);
  if (names.length === 0) return 'Add a column with a value, and its name in the first row';
  if (unnamed >= 0) return `Column ${unnamed + 2} has no name in the first row`;
  if (repeated !== undefined) return `Two columns are called “${repeated}”`;
  if (ragged < 0) return undefined;
  const { length } = rows[ragged]!;
  return `Row ${ragged + 2} has ${countOf(length, 'cell')}, and the first row has ${names.length + 1}`;
}

/** What is wrong with a table. @param used names of the values that the texts use. */
export function tableIssue(text: string, used: readonly string[]): string | undefined {
  const { names, recipients, issue } = readTable(text);
  if (issue !== undefined || recipients.length === 0) return issue;
  const missing = used.find((name) => !names.includes(name));
  return missing && `No column is called “${missing}”: the names are in the first row`;
}
