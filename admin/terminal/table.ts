import { stripVTControlCharacters } from 'node:util';
import { type Paint, plain } from './terminal.ts';

/** What a column has of each row. A cell may contain colour codes. */
export type Column<Row> = readonly [title: string, cell: (row: Row) => string, align?: 'right'];

/** Aligns cells under the titles of their columns. @returns lines, each with a line feed. */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  paint: Paint = plain,
): string {
  const aligned = columns.map(([title, cell, align]) => {
    const texts = [title && paint('dim', title), ...rows.map((row) => cell(row))];
    const width = Math.max(...texts.map(visibleLength));
    return texts.map((text) => {
      const space = ' '.repeat(width - visibleLength(text));
      return align === 'right' ? space + text : text + space;
    });
  });
  const line = (index: number) => aligned.map((texts) => texts[index]).join('  ');
  return Array.from({ length: rows.length + 1 }, (_, at) => `${line(at).trimEnd()}\n`).join('');
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

/** `2026-11-20 19:04 UTC`. */
export function formatTime(iso: string): string {
  return `${iso.slice(0, 'YYYY-MM-DDTHH:MM'.length).replace('T', ' ')} UTC`;
}
