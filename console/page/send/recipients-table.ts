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
  const last = names.length - 1;
  return rows.map(([userId = '', ...cells]) => {
    const texts = [...cells.slice(0, last), cells.slice(last).join(separator)];
    const given = names.slice(0, cells.length);
    return { userId, values: Object.fromEntries(given.map((name, at) => [name, texts[at]])) };
  });
}
