import { InvalidArgumentError } from 'commander';

const unitsMs = { m: 60_000, h: 60 * 60_000, d: 24 * 60 * 60_000 } as const;
const maxMs = 30 * unitsMs.d;

/**
 * Parses a duration of up to 30 days, such as `0`, `30m`, `24h` or `7d`.
 * @returns milliseconds.
 * @throws {InvalidArgumentError}
 */
export function readDuration(text: string): number {
  if (text === '0') return 0;
  const [, amount = '', unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const durationMs = Number(amount) * unitsMs[unit as keyof typeof unitsMs];
  if (durationMs > 0 && durationMs <= maxMs) return durationMs;
  throw new InvalidArgumentError(
    'Use 0, or minutes, hours or days up to 30d, such as 30m, 24h or 7d.',
  );
}
