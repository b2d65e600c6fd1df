/** `2026-11`: the period that a send at this time counts against. */
export function utcMonth(time: Date): string {
  return time.toISOString().slice(0, 7);
}

/** The UTC month of this time, and those before and after it. */
export function monthsAround(time: Date): readonly string[] {
  const [year, month] = [time.getUTCFullYear(), time.getUTCMonth()];
  return [-1, 0, 1].map((distance) => utcMonth(new Date(Date.UTC(year, month + distance))));
}

/** Seconds until the next UTC month begins. */
export function secondsToNextMonth(now: Date): number {
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
  return Math.ceil((next - now.getTime()) / 1000);
}
