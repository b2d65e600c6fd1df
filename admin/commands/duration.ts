import { UsageError } from '../terminal/arguments.ts';

const units = { m: 60_000, h: 60 * 60_000, d: 24 * 60 * 60_000 } as const;
const longest = 30 * units.d;

/**
 * Reads a duration such as `30m`, `24h` or `7d`, up to 30 days.
 * @returns milliseconds.
 * @throws {UsageError}
 */
export function readDuration(flag: string, text: string): number {
  const [, amount = '', unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  const duration = Number(amount) * units[unit as keyof typeof units];
  if (duration > 0 && duration <= longest) return duration;
  throw new UsageError(`--${flag} must be such as 30m, 24h or 7d, up to 30d; "${text}" is not.`);
}
