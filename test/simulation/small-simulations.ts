import { randomInt } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { type Fault, faultNames } from './faults.ts';
import { violations } from './invariants.ts';
import { simulate } from './simulation.ts';
import { useSmallLimits } from './small-limits.ts';
import { traceOf } from './trace.ts';

/** SEED=<number>: the first seed; SEED=random: any. RUNS=1 repeats one run. */
const { SEED = '1', RUNS = '5000' } = process.env;
export const firstSeed = SEED === 'random' ? randomInt(2 ** 31) : Number(SEED);
const runs = Number(RUNS);

/** In all runs. */
const leastRunsPerFault = 100;

/** Two test files have a half of the runs each, so that two processors share them. */
export function testHalf(half: 0 | 1): void {
  beforeAll(useSmallLimits);

  const seeds = Array.from({ length: runs }, (_, run) => firstSeed + run).filter(
    (_, run) => run % 2 === half,
  );

  test(`${seeds.length} simulated sends, from seed ${firstSeed} on, keep all invariants`, async () => {
    const runsWith = new Map<Fault, number>(faultNames.map((fault) => [fault, 0]));
    let pushes = 0;
    for (const seed of seeds) {
      const report = await simulate(seed);
      if (violations(report).length > 0) {
        const again = `SEED=${seed} RUNS=1 npm test -- test/simulation/small`;
        throw new Error(`${await traceOf(seed)}\nAgain: ${again}`);
      }
      pushes += report.world.attempts.length;
      for (const fault of report.world.faults.counts.keys()) {
        runsWith.set(fault, runsWith.get(fault)! + 1);
      }
      // Lets the test's own timers and messages pass.
      if (seed % 100 === 0) await turn();
    }
    const lines = [...runsWith].map(([fault, number]) => `${String(number).padStart(6)} ${fault}`);
    process.stderr.write(
      `${seeds.length} runs, ${pushes} pushes. Runs with each fault:\n${lines.join('\n')}\n`,
    );
    if (runs < 5000) return;
    const rare = [...runsWith].filter(([, number]) => number < leastRunsPerFault / 2);
    expect(rare).toEqual([]);
  }, 600_000);
}
