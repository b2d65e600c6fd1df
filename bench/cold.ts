import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readFunctions } from 'aws-emulator/functions';
import { readAssembly } from 'aws-emulator/template';
import { processTerminal } from '../admin/terminal/terminal.ts';
import { provideAssembly } from '../local/assembly.ts';
import { type BenchmarkOptions, benchmark, runBenchmark, wholeNumber } from './command.ts';
import { median } from './run-sender.ts';

interface Options extends BenchmarkOptions {
  readonly runs: number;
}

interface DeployedBundle {
  readonly name: string;
  readonly file: string;
  readonly environment: Readonly<Record<string, string>>;
}

const command = benchmark(
  'bench:cold',
  'Measures the CPU time that the deployed bundles take to load.',
).option('--runs <N>', 'new processes for each bundle, in turn', wholeNumber, 15);
await runBenchmark(command, run);

async function run({ runs }: Options) {
  const directory = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
  try {
    const functions = await measure(await synthesizeBundles(directory), runs);
    const right = 'right' as const;
    return {
      json: { runs, functions },
      about: `CPU time to load each deployed bundle in a new process; median of ${runs} runs`,
      columns: [
        { title: 'function' },
        { title: 'kB', align: right },
        { title: 'CPU ms above an empty module', align: right },
      ],
      rows: functions.map(({ name, bundleKB, loadMs }) => [
        name,
        bundleKB.toFixed(0),
        loadMs.toFixed(0),
      ]),
    };
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Writes the deployed bundles and, for comparison, an empty module. */
async function synthesizeBundles(
  directory: string,
): Promise<readonly [empty: DeployedBundle, ...DeployedBundle[]]> {
  await provideAssembly({ directory });
  const assembly = readAssembly(directory);
  const functions = readFunctions(assembly);
  const empty = join(directory, 'empty.js');
  await writeFile(empty, '');
  return [
    { name: 'empty', file: empty, environment: {} },
    ...functions.map(({ name, assetPath, environment }) => ({
      name: name.replace(/[0-9A-F]{8}$/, '').toLowerCase(),
      file: join(assetPath, 'index.js'),
      environment,
    })),
  ];
}

async function measure(
  [empty, ...bundles]: readonly [DeployedBundle, ...DeployedBundle[]],
  runs: number,
) {
  const timesMs = new Map<DeployedBundle, number[]>(
    [empty, ...bundles].map((bundle) => [bundle, []]),
  );
  for (let run = 1; run <= runs; run += 1) {
    processTerminal.messages.write(`Run ${run} of ${runs}\n`);
    for (const [bundle, ownTimesMs] of timesMs) ownTimesMs.push(await measureLoad(bundle));
  }
  const emptyMs = median(timesMs.get(empty)!);
  return Promise.all(
    bundles.map(async (bundle) => ({
      name: bundle.name,
      bundleKB: (await stat(bundle.file)).size / 1000,
      loadMs: median(timesMs.get(bundle)!) - emptyMs,
    })),
  );
}

/**
 * @returns ms of CPU time that a new process takes to load the bundle. Other work on the machine changes it less than
 *   the time by the clock.
 */
async function measureLoad({ file, environment }: DeployedBundle): Promise<number> {
  const script =
    'const start = process.cpuUsage();' +
    `require(${JSON.stringify(file)});` +
    'const { user, system } = process.cpuUsage(start);' +
    'process.stdout.write(String((user + system) / 1000)); process.exit();';
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script], {
    env: { ...process.env, NODE_OPTIONS: '', ...environment, AWS_REGION: 'us-east-1' },
  });
  return Number(stdout);
}
