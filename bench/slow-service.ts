import { progressBar } from '../admin/terminal/progress-bar.ts';
import { table } from '../admin/terminal/table.ts';
import { paintFor, processTerminal } from '../admin/terminal/terminal.ts';
import { certificate } from '../local/push-service/certificate.ts';
import { type Bundler, createBundler } from './bundler.ts';
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

type ThirdPushService = Latency | 'refuses connections' | undefined;

/** Nothing listens on this port. */
const closedOrigin = 'https://127.0.0.1:1';

/** How the third push service behaves. A push times out after 10 s. */
const cases = {
  absent: undefined,
  'as fast': { medianMs: 60, p99Ms: 400 },
  'responds after 2 s': { medianMs: 2_000 },
  'responds after 8 s': { medianMs: 8_000 },
  'never responds': { medianMs: 3_600_000 },
  'refuses connections': 'refuses connections',
} as const satisfies Readonly<Record<string, ThirdPushService>>;
type CaseName = keyof typeof cases;
const names = Object.keys(cases) as CaseName[];

/** Medians. */
interface CaseResults {
  readonly thirdPushService: CaseName;
  /** Until the healthy push services have responded to all their pushes. */
  readonly seconds: number;
  /** Part of `seconds` in which the sender waited for responses. */
  readonly idleSeconds: number;
  /** `seconds`, relative to the run of the same turn without a third push service. */
  readonly ratio: number;
  /** Responses of the third push service within `seconds`. */
  readonly thirdResponses: number;
}

const command = benchmark(
  'bench:slow-service',
  'Measures how much a slow push service delays the pushes to others.',
)
  .option('--number <N>', 'subscriptions at each push service', wholeNumber, 10_000)
  .addOption(latencyOption('60/400'))
  .option('--runs <N>', 'runs of each case, in turn', wholeNumber, 7);
await runBenchmark(command, run);

async function run({ number, latency, runs, json }: Options): Promise<void> {
  const results = await measure(number, latency, runs);
  const { output } = processTerminal;
  if (json) {
    const settings = { machine: machine(), subscriptions: number, latency, runs };
    output.write(`${JSON.stringify({ ...settings, cases: results }, null, 2)}\n`);
    return;
  }
  const right = 'right' as const;
  const columns = [
    { title: 'third push service' },
    { title: 's until the two are finished', align: right },
    { title: 'idle s of these', align: right },
    { title: '× absent', align: right },
    { title: 'responses of the third by then', align: right },
  ];
  const rows = results.map(({ thirdPushService, seconds, idleSeconds, ratio, thirdResponses }) => [
    thirdPushService,
    seconds.toFixed(2),
    idleSeconds.toFixed(2),
    ratio.toFixed(2),
    thirdResponses.toFixed(0),
  ]);
  output.write(
    `${describeMachine()}\nTwo healthy push services with a latency of ${describeLatency(latency)}, and a ` +
      `third; ${number} subscriptions each; median of ${runs} runs\n\n` +
      table(columns, rows, paintFor(output)),
  );
}

async function measure(number: number, latency: Latency, runs: number): Promise<CaseResults[]> {
  const results = new Map<CaseName, SlowServiceResult[]>(names.map((name) => [name, []]));
  const bundler = await createBundler();
  const bar = progressBar(processTerminal.messages, 'Sending', runs * names.length);
  let done = 0;
  try {
    for (let run = 0; run < runs; run += 1) {
      for (const [name, caseResults] of results) {
        caseResults.push(await runOnce(bundler, number, latency, cases[name]));
        bar.update(++done);
      }
    }
  } finally {
    bar.stop();
    await bundler.remove();
  }
  const absent = results.get('absent')!;
  return [...results].map(([thirdPushService, caseResults]) => ({
    thirdPushService,
    seconds: median(caseResults.map(({ seconds }) => seconds)),
    idleSeconds: median(caseResults.map(({ idleSeconds }) => idleSeconds)),
    ratio: median(caseResults.map(({ seconds }, run) => seconds / absent[run]!.seconds)),
    thirdResponses: median(caseResults.map(({ thirdResponses }) => thirdResponses)),
  }));
}

async function runOnce(
  bundler: Bundler,
  number: number,
  latency: Latency,
  third: ThirdPushService,
): Promise<SlowServiceResult> {
  const [server, sender] = await Promise.all([
    bundler.bundle('bench/push-server.ts'),
    bundler.bundle('bench/slow-service/sender.ts'),
  ]);
  const latencies = [latency, latency, ...(typeof third === 'object' ? [third] : [])];
  const servers = latencies.map((one) => startChild(server.file, { args: [JSON.stringify(one)] }));
  const child = startChild(sender.file);
  try {
    const addresses = await Promise.all(servers.map((one) => one.receive<{ port: number }>()));
    const [first, second, slow] = addresses.map(({ port }) => `https://127.0.0.1:${port}`);
    const task: SlowServiceTask = {
      ca: certificate.cert,
      healthy: [first!, second!],
      third: third === 'refuses connections' ? closedOrigin : slow,
      subscriptions: number,
    };
    return await child.request<SlowServiceResult>(task);
  } finally {
    await Promise.all([child.stop(), ...servers.map((one) => one.stop())]);
  }
}
