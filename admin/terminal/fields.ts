import type { Paint } from './terminal.ts';

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
