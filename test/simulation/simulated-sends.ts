import { setImmediate as turn } from 'node:timers/promises';
import { type Fault, faultNames } from './faults.ts';
import { violations } from './invariants.ts';
import { simulate } from './simulation.ts';
import { useSmallLimits } from './small-limits.ts';
import { traceOf } from './trace.ts';

interface SimulatedSends {
  readonly runs: number;
  readonly pushes: number;
  /** Runs in which each fault happened. */
  readonly runsWith: ReadonlyMap<Fault, number>;
}

/**
 * Runs small simulations with consecutive seeds.
 * @param until epoch ms after which no run starts.
 * @throws {Error} with the trace of the first run that violates an invariant.
 */
export async function simulateSends(
  firstSeed: number,
  mostRuns: number,
  {
    until = Number.POSITIVE_INFINITY,
    favoured = [],
  }: { readonly until?: number | undefined; readonly favoured?: readonly Fault[] } = {},
): Promise<SimulatedSends> {
  useSmallLimits();
  const runsWith = new Map<Fault, number>(faultNames.map((fault) => [fault, 0]));
  let pushes = 0;
  let runs = 0;
  for (; runs < mostRuns && Date.now() < until; runs += 1) {
    const seed = firstSeed + runs;
    const report = await simulate(seed, { favoured });
    if (violations(report).length > 0) {
      const again = `SEED=${seed} RUNS=1 FAVOURED='${favoured}' npm run test:reliability -- simulated-sends`;
      throw new Error(`${await traceOf(seed, favoured)}\nAgain: ${again}`);
    }
    pushes += report.world.attempts.length;
    for (const fault of report.world.faults.counts.keys()) {
      runsWith.set(fault, runsWith.get(fault)! + 1);
    }
    // Jest's worker responds to its parent in between.
    if (runs % 100 === 0) await turn();
  }
  return { runs, pushes, runsWith };
}
