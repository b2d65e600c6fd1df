/** How long a push service takes to answer, in ms. */
export interface Latency {
  readonly median: number;
  /** Of a log-normal distribution; absent where every answer takes as long. */
  readonly p99?: number;
}

/** Standard deviations between the median and the 99th percentile of a normal distribution. */
const p99Deviations = 2.326;

/**
 * Reads `60` or, for a log-normal distribution, `60/400`: median and 99th percentile.
 * @throws {Error} one sentence.
 */
export function readLatency(text: string): Latency {
  const [, median, p99] = /^(\d+)(?:\/(\d+))?$/.exec(text) ?? [];
  if (median === undefined || (p99 !== undefined && Number(p99) <= Number(median))) {
    throw new Error(`A latency reads "60" or "60/400", median and 99th percentile: "${text}".`);
  }
  return { median: Number(median), ...(p99 !== undefined && { p99: Number(p99) }) };
}

export function describeLatency({ median, p99 }: Latency): string {
  return p99 === undefined ? `${median} ms` : `${median} ms (p99 ${p99} ms)`;
}

/** @param random uniform, from 0 to below 1. */
export function drawLatency({ median, p99 }: Latency, random: () => number): number {
  if (p99 === undefined) return median;
  // Box and Muller's way to a normal deviate.
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return median * Math.exp((normal * Math.log(p99 / median)) / p99Deviations);
}
