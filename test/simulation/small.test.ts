import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { promisify } from 'node:util';
import { type Fault, faultNames } from './faults.ts';
import type { SmallRunsReport } from './small-runs.ts';
import { traceOf } from './trace.ts';

const execute = promisify(execFile);
const processes = 2;
const leastRunsPerFault = 100;

/**
 * SEED=<number>: the first seed, with RUNS=1 for one run; SEED=random: any, with MINUTES=60 for as long.
 * Without it, the same 5,000 seeds each time and 1,000 that change with the commit.
 */
const { SEED, RUNS = '5000', MINUTES } = process.env;

interface Series {
  readonly name: string;
  readonly firstSeed: number;
  readonly runs: number;
}

async function seriesOf(): Promise<Series[]> {
  const runs = MINUTES === undefined ? Number(RUNS) : Number.MAX_SAFE_INTEGER;
  if (SEED !== undefined) {
    const firstSeed = SEED === 'random' ? randomInt(2 ** 31) : Number(SEED);
    return [{ name: `from seed ${firstSeed} on`, firstSeed, runs }];
  }
  const fixed = { name: 'the same each time', firstSeed: 1, runs };
  const commit = await currentCommit();
  if (commit === undefined) return [fixed];
  const firstSeed = Number.parseInt(commit.slice(0, 7), 16);
  const ofCommit = { name: `of commit ${commit}`, firstSeed, runs: Math.ceil(runs / 5) };
  return [fixed, ofCommit];
}

/** @returns undefined outside of a repository, such as in an archive of the source. */
async function currentCommit(): Promise<string | undefined> {
  try {
    return (await execute('git', ['rev-parse', 'HEAD'])).stdout.trim();
  } catch {
    return undefined;
  }
}

async function runPart({ firstSeed, runs }: Series, index: number): Promise<SmallRunsReport> {
  const count = Math.floor((runs + processes - 1 - index) / processes);
  const until = Date.now() + Number(MINUTES ?? 60) * 60_000;
  const { stdout } = await execute(
    process.execPath,
    [
      ...['--import', 'tsx', 'test/simulation/small-runs.ts'],
      ...[firstSeed + index, count, processes, until].map(String),
    ],
    { maxBuffer: 2 ** 24 },
  );
  return JSON.parse(stdout) as SmallRunsReport;
}

test(
  'simulated sends keep all invariants',
  async () => {
    for (const series of await seriesOf()) {
      process.stderr.write(`Simulated sends, ${series.name}:\n`);
      const parts = Array.from({ length: Math.min(processes, series.runs) }, (_, index) =>
        runPart(series, index),
      );
      const reports = await Promise.all(parts);
      const sum = (of: (report: SmallRunsReport) => number) =>
        reports.reduce((total, report) => total + of(report), 0);
      const runs = sum((report) => report.runs);
      const runsWith = faultNames.map((fault): [Fault, number] => [
        fault,
        sum((report) => report.runsWith[fault]),
      ]);
      const lines = runsWith.map(([fault, number]) => `${String(number).padStart(6)} ${fault}`);
      const pushes = sum((report) => report.pushes);
      process.stderr.write(
        `${runs} runs, ${pushes} pushes. Runs with each fault:\n${lines.join('\n')}\n`,
      );
      if (MINUTES === undefined) expect(runs).toBe(series.runs);
      if (runs < 5000) continue;
      expect(runsWith.filter(([, number]) => number < leastRunsPerFault)).toEqual([]);
    }
  },
  (Number(MINUTES ?? 0) + 15) * 60_000,
);

test('a run depends on its seed only', async () => {
  const seed = SEED === undefined || SEED === 'random' ? 1 : Number(SEED);
  expect(await traceOf(seed)).toBe(await traceOf(seed));
  expect(await traceOf(seed)).not.toBe(await traceOf(seed + 1));
});
