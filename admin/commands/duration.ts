import { InvalidArgumentError } from 'commander';

const unitsMs = { m: 60_000, h: 60 * 60_000, d: 24 * 60 * 60_000 } as const;

/**
 * Parses a duration of up to 30 days, such as `0`, `30m`, `24h` or `7d`.
 * @returns milliseconds.
 * @throws {InvalidArgumentError}
 */
export function readDuration(text: string): number {
  return text === '0'
    ? 0
    : readLifetime(text, 30, 'Use 0, or minutes, hours or days up to 30d, such as 30m, 24h or 7d.');
}

/**
 * Parses a duration above 0, such as `90d`.
 * @returns milliseconds.
 * @throws {InvalidArgumentError}
 */
export function readLifetime(text: string, maxDays: number, expected: string): number {
  const [, amount = '', unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const durationMs = Number(amount) * unitsMs[unit as keyof typeof unitsMs];
  if (durationMs > 0 && durationMs <= maxDays * unitsMs.d) return durationMs;
  throw new InvalidArgumentError(expected);
}
