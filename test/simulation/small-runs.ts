import { type Fault, faultNames } from './faults.ts';
import { violations } from './invariants.ts';
import { simulate } from './simulation.ts';
import { useSmallLimits } from './small-limits.ts';
import { traceOf } from './trace.ts';

/**
 * Runs small simulations in a process of its own: in the process of the tests, which by then has run many
 * others, they take nine times as long. Prints a {@link SmallRunsReport}, or the trace of the first run
 * that violates an invariant.
 */

export interface SmallRunsReport {
  readonly runs: number;
  readonly pushes: number;
  /** Runs in which each fault happened. */
  readonly runsWith: Readonly<Record<Fault, number>>;
}

/** `until`: epoch ms after which no run starts. */
const [firstSeed, runs, step, until] = process.argv.slice(2).map(Number) as [
  ...[firstSeed: number, runs: number, step: number, until: number],
];
useSmallLimits();

const runsWith = Object.fromEntries(faultNames.map((fault) => [fault, 0])) as Record<Fault, number>;
let pushes = 0;
let run = 0;
for (; run < runs && Date.now() < until; run += 1) {
  const seed = firstSeed + run * step;
  const report = await simulate(seed);
  if (violations(report).length > 0) {
    process.stderr.write(
      `${await traceOf(seed)}\nAgain: SEED=${seed} RUNS=1 npm test -- test/simulation/small\n`,
    );
    process.exit(1);
  }
  pushes += report.world.attempts.length;
  for (const fault of report.world.faults.counts.keys()) runsWith[fault] += 1;
}
process.stdout.write(JSON.stringify({ runs: run, pushes, runsWith } satisfies SmallRunsReport));
