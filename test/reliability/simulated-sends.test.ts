import { commitSeed } from '../simulation/commit-seed.ts';
import { faultNames } from '../simulation/faults.ts';
import { simulateSends } from '../simulation/simulated-sends.ts';
import { seed } from './fixtures/seed.ts';

const leastRunsPerFault = 100;

/**
 * RUNS=1 for the run of one `SEED`, MINUTES=60 for as many as that time allows, FAVOURED for faults at their highest
 * rates, with commas.
 */
const { RUNS = '5000', MINUTES = '0', FAVOURED = '' } = process.env;
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
      const runsWith = [...simulated.runsWith];
      const lines = runsWith.map(([fault, number]) => `${String(number).padStart(6)} ${fault}`);
      process.stderr.write(
        `${simulated.runs} runs, ${simulated.pushes} pushes. Runs with each fault:\n${lines.join('\n')}\n`,
      );
      if (simulated.runs < 5000) return;
      expect(runsWith.filter(([, number]) => number < leastRunsPerFault)).toEqual([]);
    },
    timeoutMs,
  );

  test(
    'with the seed of the commit',
    async () => {
      await simulateSends(commitSeed() ?? 1, Math.min(runs, 1000));
    },
    timeoutMs,
  );
});
