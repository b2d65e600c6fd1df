import { setImmediate as turn } from 'node:timers/promises';
import { type Fault, faultNames } from './faults.ts';
import { type Coverages, violations } from './invariants.ts';
import { useSmallSizes } from './scale.ts';
import { simulate } from './simulation.ts';
import { traceOf } from './trace.ts';
import type { World } from './world.ts';

interface SimulatedSends {
  readonly runs: number;
  readonly pushes: number;
  /** Runs in which a slice was stored, or a function stood still or died, between two pushes of one chunk. */
  readonly runsWithinChunks: number;
  /** Runs in which each fault happened. */
  readonly runsWith: ReadonlyMap<Fault, number>;
  readonly coverages: Coverages;
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
  useSmallSizes();
  const runsWith = new Map<Fault, number>(faultNames.map((fault) => [fault, 0]));
  const coverages: Coverages = new Map();
  let pushes = 0;
  let runsWithinChunks = 0;
  let runs = 0;
  for (; runs < mostRuns && Date.now() < until; runs += 1) {
    const seed = firstSeed + runs;
    const report = await simulate(seed, { favoured });
    if (violations(report, coverages).length > 0) {
      const again = `SEED=${seed} RUNS=1 FAVOURED='${favoured}' npm run test:reliability -- simulated-sends`;
      throw new Error(`${await traceOf(seed, favoured)}\nAgain: ${again}`);
    }
    const { world } = report;
    pushes += world.attempts.length;
    if (isWithinChunk(world)) runsWithinChunks += 1;
    for (const fault of world.faults.counts.keys()) runsWith.set(fault, runsWith.get(fault)! + 1);
    // Jest's worker responds to its parent in between.
    if (runs % 100 === 0) await turn();
  }
  return { runs, pushes, runsWithinChunks, runsWith, coverages };
}

/** Whether a save, a pause or a death of a run falls into a chunk: between two pushes, and not with a claim. */
function isWithinChunk({ attempts, slices, ended }: World): boolean {
  const times = new Map<string, number[]>();
  for (const { run, startedAt } of attempts) {
    times.set(run, [...(times.get(run) ?? []), startedAt]);
  }
  const isDuring = (run: string, at: number) => {
    const pushedAt = times.get(run) ?? [];
    return pushedAt.some((time) => time < at) && pushedAt.some((time) => time > at);
  };
  const isSaved = [...slices.values()].some((versions) =>
    versions.some(({ by, at, item }, index) => {
      const before = versions[index - 1];
      const isSave = before?.by === by && before?.item.claimed === item.claimed;
      return isSave && by !== undefined && isDuring(by, at);
    }),
  );
  const isDisturbed = [...times.keys()].some((run) => {
    const { death, pause } = ended.get(run)!;
    return death !== undefined || (pause !== undefined && isDuring(run, pause.from));
  });
  return isSaved || isDisturbed;
}

/** The figures of simulated sends, line by line. */
export function described(simulated: SimulatedSends): string {
  const { runs, pushes, runsWithinChunks, runsWith, coverages } = simulated;
  const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`;
  const faults = [...runsWith].map(([fault, number]) => `${String(number).padStart(6)} ${fault}`);
  const invariants = [...coverages].map(([name, { judged, except }]) => {
    const all = [...except.values()].reduce((sum, number) => sum + number, judged);
    const reasons = [...except].map(([why, number]) => `${percent(number, all)} ${why}`);
    return `${percent(judged, all).padStart(8)} of ${all}: ${name}. Not: ${reasons.join('; ') || '–'}`;
  });
  return [
    `${runs} runs, ${pushes} pushes. A save, a pause or a death falls into a chunk in ${percent(runsWithinChunks, runs)}.`,
    'Runs with each fault:',
    ...faults,
    'What each invariant has judged:',
    ...invariants,
    '',
  ].join('\n');
}
