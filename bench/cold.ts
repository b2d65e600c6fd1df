import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { progressBar } from '../admin/terminal/progress-bar.ts';
import { table } from '../admin/terminal/table.ts';
import { paintFor, processTerminal } from '../admin/terminal/terminal.ts';
import { readFunctions } from '../local/template/functions.ts';
import { createResolver } from '../local/template/references.ts';
import { synthesize } from '../local/template/synthesize.ts';
import { readAssembly } from '../local/template/template.ts';
import { type BenchmarkOptions, benchmark, runBenchmark, wholeNumber } from './command.ts';
import { describeMachine, machine } from './machine.ts';
import { median } from './run-sender.ts';

interface Options extends BenchmarkOptions {
  readonly runs: number;
}

interface Bundle {
  readonly name: string;
  readonly file: string;
  readonly environment: Readonly<Record<string, string>>;
}

const command = benchmark('bench:cold', 'Measures how long the deployed bundles take to load.')
  .option('--runs <N>', 'new processes for each bundle, in turn', wholeNumber, 15)
  .action(run);
await runBenchmark(command);

async function run({ runs, json }: Options): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
  try {
    const figures = await measure(await bundlesIn(directory), runs);
    const { output } = processTerminal;
    if (json) {
      output.write(`${JSON.stringify({ machine: machine(), runs, figures }, null, 2)}\n`);
      return;
    }
    const right = 'right' as const;
    const columns = [
      { title: 'function' },
      { title: 'kB', align: right },
      { title: 'ms above an empty module', align: right },
    ];
    const rows = figures.map(({ name, kilobytes, milliseconds }) => [
      name,
      kilobytes.toFixed(0),
      milliseconds.toFixed(0),
    ]);
    output.write(
      `${describeMachine()}\nLoading each deployed bundle in a fresh process; median of ${runs} runs\n\n` +
        table(columns, rows, paintFor(output)),
    );
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** The deployed bundles, and a module with nothing in it. */
async function bundlesIn(directory: string): Promise<readonly [empty: Bundle, ...Bundle[]]> {
  await synthesize({ directory });
  const assembly = readAssembly(directory);
  const functions = readFunctions(assembly, createResolver(assembly.template));
  const empty = join(directory, 'empty.mjs');
  await writeFile(empty, '');
  return [
    { name: 'empty', file: empty, environment: {} },
    ...functions.map(({ name, assetPath, environment }) => ({
      name: name.replace(/[0-9A-F]{8}$/, '').toLowerCase(),
      file: join(assetPath, 'index.mjs'),
      environment,
    })),
  ];
}

async function measure([empty, ...bundles]: readonly [Bundle, ...Bundle[]], runs: number) {
  const times = new Map<Bundle, number[]>([empty, ...bundles].map((bundle) => [bundle, []]));
  const bar = progressBar(processTerminal.messages, 'Loading', runs * times.size);
  let done = 0;
  try {
    for (let run = 0; run < runs; run += 1) {
      for (const [bundle, own] of times) {
        own.push(await load(bundle));
        bar.update(++done);
      }
    }
  } finally {
    bar.stop();
  }
  const floor = median(times.get(empty)!);
  return Promise.all(
    bundles.map(async (bundle) => ({
      name: bundle.name,
      kilobytes: (await stat(bundle.file)).size / 1000,
      milliseconds: median(times.get(bundle)!) - floor,
    })),
  );
}

/** Milliseconds that a fresh process takes to load a module. */
async function load({ file, environment }: Bundle): Promise<number> {
  const script =
    'const since = performance.now();' +
    `await import(${JSON.stringify(pathToFileURL(file).href)});` +
    'process.stdout.write(String(performance.now() - since)); process.exit();';
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', script],
    { env: { ...process.env, ...environment, AWS_REGION: 'us-east-1', NODE_OPTIONS: '' } },
  );
  return Number(stdout);
}
