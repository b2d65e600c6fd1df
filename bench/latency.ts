import { InvalidArgumentError } from 'commander';

/** How long a push service takes to respond. */
export interface Latency {
  readonly medianMs: number;
  /** 99th percentile of a log-normal distribution; absent for a constant latency. */
  readonly p99Ms?: number;
}

/** Standard deviations between the median and the 99th percentile of a normal distribution. */
const p99Deviations = 2.326;

/**
 * Reads `60`, or `60/400` for a log-normal distribution with this median and 99th percentile.
 * @throws {InvalidArgumentError}
 */
export function readLatency(text: string): Latency {
  const [, median, p99] = /^(\d+)(?:\/(\d+))?$/.exec(text) ?? [];
  if (median === undefined || (p99 !== undefined && Number(p99) <= Number(median))) {
    throw new InvalidArgumentError('Use a median such as 60, or median/p99 such as 60/400.');
  }
  return { medianMs: Number(median), ...(p99 !== undefined && { p99Ms: Number(p99) }) };
}

export function describeLatency({ medianMs, p99Ms }: Latency): string {
  return p99Ms === undefined ? `${medianMs} ms` : `${medianMs} ms (p99 ${p99Ms} ms)`;
}

/**
 * Draws a latency in ms.
 * @param random uniform, from 0 to below 1.
 */
export function drawLatency({ medianMs, p99Ms }: Latency, random: () => number): number {
  if (p99Ms === undefined) return medianMs;
  // Box–Muller transform.
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return medianMs * Math.exp((normal * Math.log(p99Ms / medianMs)) / p99Deviations);
}
