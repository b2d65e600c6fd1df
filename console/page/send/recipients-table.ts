import type { SendRequest } from '../../../contract/schemas/notification.ts';

type Recipients = NonNullable<SendRequest['recipients']>;

/**
 * Recipients from a table as a spreadsheet copies it (tabs), or with commas. The first line has the names of the
 * values; the first column has the user ids. A cell that is missing has no value. With commas, the last cell may
 * contain some.
 */
export function recipientsOf(table: string): Recipients {
  const lines = table.split('\n').filter((line) => line.trim() !== '');
  const separator = lines[0]?.includes('\t') ? '\t' : ',';
  const [[, ...names] = [], ...rows] = lines.map((line) =>
    line.split(separator).map((cell) => cell.trim()),
  );
  return rows.map(([userId = '', ...cells]) => {
    const last = names.length - 1;
    const texts = [...cells.slice(0, last), ...restOf(cells, last, separator)];
    const values = texts.map((text, index) => [names[index]!, text]);
    return { userId, values: Object.fromEntries(values) };
  });
}

/** The cells from the last column on, as one. */
function restOf(cells: readonly string[], last: number, separator: string): readonly string[] {
  return last < 0 || cells.length <= last ? [] : [cells.slice(last).join(separator)];
}
