import { progressBar } from '../admin/terminal/progress-bar.ts';
import { table } from '../admin/terminal/table.ts';
import { paintFor, processTerminal } from '../admin/terminal/terminal.ts';
import { certificate } from '../local/push-service/certificate.ts';
import { type Bundles, bundles } from './bundle.ts';
import { startChild } from './child.ts';
import {
  type BenchmarkOptions,
  benchmark,
  latencyOption,
  runBenchmark,
  wholeNumber,
} from './command.ts';
import { describeLatency, type Latency } from './latency.ts';
import { describeMachine, machine } from './machine.ts';
import { median } from './run-sender.ts';
import type { SlowServiceResult, SlowServiceTask } from './slow-service/sender.ts';

interface Options extends BenchmarkOptions {
  readonly number: number;
  readonly latency: Latency;
  readonly runs: number;
}

type Third = Latency | 'down' | undefined;

/** Nothing listens there. */
const nowhere = 'https://127.0.0.1:1';

/** What the third push service does; ms. A push is given up after 10 s. */
const cases = {
  absent: undefined,
  'as fast': { median: 60, p99: 400 },
  'answers after 2 s': { median: 2_000 },
  'answers after 8 s': { median: 8_000 },
  'never answers': { median: 3_600_000 },
  'refuses connections': 'down',
} as const satisfies Readonly<Record<string, Third>>;
type CaseName = keyof typeof cases;
const names = Object.keys(cases) as CaseName[];

interface Figures {
  readonly third: CaseName;
  /** Until the two healthy services have answered all their pushes. */
  readonly seconds: number;
  /** Of that, with nothing to do but wait. */
  readonly idleSeconds: number;
  /** Against the run in which the third was absent. */
  readonly ratio: number;
  /** The third's pushes answered meanwhile. */
  readonly answered: number;
}

const command = benchmark(
  'bench:slow-service',
  'Measures how much a slow push service delays the pushes to others.',
)
  .option('--number <N>', 'subscriptions at each push service', wholeNumber, 10_000)
  .addOption(latencyOption('60/400'))
  .option('--runs <N>', 'runs of each case, in turn', wholeNumber, 7)
  .action(run);
await runBenchmark(command);

async function run({ number, latency, runs, json }: Options): Promise<void> {
  const figures = await measure(number, latency, runs);
  const { output } = processTerminal;
  if (json) {
    const text = JSON.stringify({ machine: machine(), number, latency, runs, figures }, null, 2);
    output.write(`${text}\n`);
    return;
  }
  const right = 'right' as const;
  const columns = [
    { title: 'a third push service' },
    { title: 's until the two are served', align: right },
    { title: 'of that idle', align: right },
    { title: '× absent', align: right },
    { title: 'pushes of the third answered', align: right },
  ];
  const rows = figures.map(({ third, seconds, idleSeconds, ratio, answered }) => [
    third,
    seconds.toFixed(2),
    idleSeconds.toFixed(2),
    ratio.toFixed(2),
    answered.toFixed(0),
  ]);
  output.write(
    `${describeMachine()}\nTwo push services that answer after ${describeLatency(latency)}, ` +
      `${number} subscriptions each, and a third with as many; median of ${runs} runs\n\n` +
      table(columns, rows, paintFor(output)),
  );
}

async function measure(number: number, latency: Latency, runs: number): Promise<Figures[]> {
  const results = new Map<CaseName, SlowServiceResult[]>(names.map((name) => [name, []]));
  const made = await bundles();
  const bar = progressBar(processTerminal.messages, 'Sending', runs * names.length);
  let done = 0;
  try {
    for (let run = 0; run < runs; run += 1) {
      for (const [name, own] of results) {
        own.push(await runOnce(made, number, latency, cases[name]));
        bar.update(++done);
      }
    }
  } finally {
    bar.stop();
    await made.remove();
  }
  const absent = results.get('absent')!;
  return [...results].map(([third, own]) => ({
    third,
    seconds: median(own.map(({ seconds }) => seconds)),
    idleSeconds: median(own.map(({ idleSeconds }) => idleSeconds)),
    ratio: median(own.map(({ seconds }, run) => seconds / absent[run]!.seconds)),
    answered: median(own.map(({ answeredByOther }) => answeredByOther)),
  }));
}

async function runOnce(
  made: Bundles,
  number: number,
  latency: Latency,
  third: Third,
): Promise<SlowServiceResult> {
  const [server, sender] = await Promise.all([
    made.of('bench/push-server.ts'),
    made.of('bench/slow-service/sender.ts'),
  ]);
  const latencies = [latency, latency, ...(typeof third === 'object' ? [third] : [])];
  const servers = latencies.map((one) => startChild(server.file, { args: [JSON.stringify(one)] }));
  const child = startChild(sender.file);
  try {
    const places = await Promise.all(servers.map((one) => one.receive<{ port: number }>()));
    const [first, second, other] = places.map(({ port }) => `https://127.0.0.1:${port}`);
    const task: SlowServiceTask = {
      ca: certificate.cert,
      healthy: [first!, second!],
      other: third === 'down' ? nowhere : other,
      number,
    };
    return await child.ask<SlowServiceResult>(task);
  } finally {
    await Promise.all([child.stop(), ...servers.map((one) => one.stop())]);
  }
}
