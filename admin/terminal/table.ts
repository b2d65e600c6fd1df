import { stripVTControlCharacters } from 'node:util';
import { type Paint, plain } from './terminal.ts';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
}

/**
 * Aligns cells under the titles of their columns.
 * @param rows cells in the order of the columns. A cell may contain colour codes.
 * @returns lines, each with a line feed.
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  paint: Paint = plain,
): string {
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...rows.map((row) => visibleLength(row[index] ?? ''))),
  );
  const line = (cells: readonly string[]) =>
    columns
      .map(({ align }, index) => pad(cells[index] ?? '', widths[index] ?? 0, align ?? 'left'))
      .join('  ')
      .trimEnd();
  const titles = columns.map(({ title }) => title && paint('dim', title));
  return [titles, ...rows].map((cells) => `${line(cells)}\n`).join('');
}

function pad(cell: string, width: number, align: 'left' | 'right'): string {
  const space = ' '.repeat(width - visibleLength(cell));
  return align === 'left' ? cell + space : space + cell;
}

function visibleLength(text: string): number {
  return stripVTControlCharacters(text).length;
}

/** The text, or as much of it as fits before an ellipsis. */
export function truncate(text: string, lengthCharacters: number): string {
  const characters = [...text];
  return characters.length > lengthCharacters
    ? `${characters.slice(0, lengthCharacters - 1).join('')}…`
    : text;
}

/** Labels with their values under each other, a line each. A field without a value is left out. */
export function fieldLines(
  fields: readonly (readonly [label: string, value: string | undefined])[],
  paint: Paint,
): string {
  const width = Math.max(...fields.map(([label]) => label.length));
  return fields
    .filter(([, value]) => value !== undefined)
    .map(([label, value]) => `  ${paint('dim', label.padEnd(width))}  ${value}\n`)
    .join('');
}
