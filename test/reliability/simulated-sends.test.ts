import { randomInt } from 'node:crypto';
import { faultNames } from '../simulation/faults.ts';
import { described, simulateSends } from '../simulation/simulated-sends.ts';
import { seed } from './fixtures/seed.ts';

/** Part of the runs that each fault happens in at least. Of fewer runs than these, chance decides. */
const [leastPart, judgedRuns] = [1 / 100, 1000];

/**
 * RUNS=1 for the run of one `SEED`, MINUTES=60 for as many as that time allows, FAVOURED for faults at their highest
 * rates, with commas.
 */
const { RUNS = '1000', MINUTES = '0', FAVOURED = '' } = process.env;
const minutes = Number(MINUTES);
const runs = minutes > 0 ? Number.MAX_SAFE_INTEGER : Number(RUNS);
const favoured = faultNames.filter((fault) => FAVOURED.split(',').includes(fault));
const timeoutMs = (minutes + 15) * 60_000;

describe('a simulated send keeps all invariants, whatever faults coincide', () => {
  test(
    'with the seed of this suite',
    async () => {
      const until = minutes > 0 ? Date.now() + minutes * 60_000 : undefined;
      const simulated = await simulateSends(seed, runs, { until, favoured });
      process.stderr.write(described(simulated));
      if (simulated.runs < judgedRuns) return;
      const { runsWith, runsWithinChunks } = simulated;
      expect([...runsWith].filter(([, number]) => number < leastPart * simulated.runs)).toEqual([]);
      // Half of the runs at least test what happens within a chunk.
      expect(runsWithinChunks).toBeGreaterThan(simulated.runs / 2);
    },
    timeoutMs,
  );

  // A violation names its own.
  test(
    'with a seed that nobody has tried',
    async () => {
      await simulateSends(randomInt(2 ** 31), Math.ceil(Math.min(runs, 100_000) / 5));
    },
    timeoutMs,
  );
});
