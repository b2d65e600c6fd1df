import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readFunctions } from 'aws-emulator/functions';
import { readAssembly } from 'aws-emulator/template';
import { provideAssembly } from '../local/assembly.ts';
import { measurement, median, progress, runMeasurement, wholeNumber } from './runner.ts';

interface Bundle {
  readonly name: string;
  readonly file: string;
  readonly environment: Readonly<Record<string, string>>;
}

const command = measurement(
  'bench:cold',
  'Measures the CPU time that the deployed bundles take to load.',
).option('--runs <N>', 'new processes for each bundle, in turn', wholeNumber, 15);
await runMeasurement(command, measure);

async function measure({ runs }: { readonly runs: number }) {
  const directory = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
  try {
    await provideAssembly({ directory });
    const functions = await measureBundles(await bundlesIn(directory), runs);
    return {
      json: { runs, functions },
      about: `CPU time to load each deployed bundle in a new process; median of ${runs} runs`,
      table: functions,
    };
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** The deployed bundles and, before them for comparison, an empty module. */
async function bundlesIn(directory: string): Promise<readonly Bundle[]> {
  const empty = join(directory, 'empty.js');
  await writeFile(empty, '');
  const functions = readFunctions(readAssembly(directory));
  return [
    { name: 'empty', file: empty, environment: {} },
    ...functions.map(({ name, assetPath, environment }) => ({
      name: name.replace(/[0-9A-F]{8}$/, '').toLowerCase(),
      file: join(assetPath, 'index.js'),
      environment,
    })),
  ];
}

async function measureBundles(bundles: readonly Bundle[], runs: number) {
  const timesMs = bundles.map((): number[] => []);
  for (let run = 1; run <= runs; run += 1) {
    progress(`Run ${run} of ${runs}`);
    for (const [index, one] of bundles.entries()) timesMs[index]!.push(await measureLoad(one));
  }
  const [emptyMs, ...loadMs] = timesMs.map(median);
  return Promise.all(
    bundles.slice(1).map(async ({ name, file }, index) => ({
      name,
      bundleKB: (await stat(file)).size / 1000,
      loadMs: loadMs[index]! - emptyMs!,
    })),
  );
}

/**
 * @returns ms of CPU time that a new process takes to load the bundle. Other work on the machine changes it less than
 *   the time by the clock.
 */
async function measureLoad({ file, environment }: Bundle): Promise<number> {
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
