import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { promisify } from 'node:util';
import { type Fault, faultNames } from './faults.ts';
import type { SmallRunsReport } from './small-runs.ts';
import { traceOf } from './trace.ts';

/** SEED=<number>: the first seed; SEED=random: any. RUNS=1 repeats one run. */
const { SEED = '1', RUNS = '5000' } = process.env;
const firstSeed = SEED === 'random' ? randomInt(2 ** 31) : Number(SEED);
const runs = Number(RUNS);
const processes = Math.min(2, runs);

const leastRunsPerFault = 100;

async function runShare(index: number): Promise<SmallRunsReport> {
  const count = Math.floor((runs + processes - 1 - index) / processes);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      ...['--import', 'tsx', 'test/simulation/small-runs.ts'],
      ...[firstSeed + index, count, processes].map(String),
    ],
    { maxBuffer: 2 ** 24 },
  );
  return JSON.parse(stdout) as SmallRunsReport;
}

test(`${runs} simulated sends, from seed ${firstSeed} on, keep all invariants`, async () => {
  const reports = await Promise.all(
    Array.from({ length: processes }, (_, index) => runShare(index)),
  );
  const sum = (of: (report: SmallRunsReport) => number) =>
    reports.reduce((total, report) => total + of(report), 0);
  const runsWith = faultNames.map((fault): [Fault, number] => [
    fault,
    sum((report) => report.runsWith[fault]),
  ]);
  const lines = runsWith.map(([fault, number]) => `${String(number).padStart(6)} ${fault}`);
  process.stderr.write(
    `${sum((report) => report.runs)} runs, ${sum(({ pushes }) => pushes)} pushes. ` +
      `Runs with each fault:\n${lines.join('\n')}\n`,
  );
  expect(sum((report) => report.runs)).toBe(runs);
  if (runs < 5000) return;
  expect(runsWith.filter(([, number]) => number < leastRunsPerFault)).toEqual([]);
}, 600_000);

test('a run depends on its seed only', async () => {
  expect(await traceOf(firstSeed)).toBe(await traceOf(firstSeed));
  expect(await traceOf(firstSeed)).not.toBe(await traceOf(firstSeed + 1));
});
