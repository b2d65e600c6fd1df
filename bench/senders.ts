import { progressBar } from '../admin/terminal/progress-bar.ts';
import { table } from '../admin/terminal/table.ts';
import { paintFor, processTerminal } from '../admin/terminal/terminal.ts';
import { bundles } from './bundle.ts';
import {
  type BenchmarkOptions,
  benchmark,
  latencyOption,
  runBenchmark,
  wholeNumber,
} from './command.ts';
import { describeLatency, type Latency } from './latency.ts';
import { describeMachine, machine } from './machine.ts';
import { type Load, median, type Run, runSender } from './run-sender.ts';

const senders = {
  carillon: 'Carillon',
  'web-push': 'web-push, keep-alive agent',
  pushforge: '@pushforge/builder + undici',
  block65: '@block65/webcrypto-web-push + undici',
} as const;
type SenderName = keyof typeof senders;
const names = Object.keys(senders) as SenderName[];

interface Options extends BenchmarkOptions {
  readonly number: number;
  readonly inFlight: number;
  readonly latency: Latency;
  readonly runs: number;
}

/** So many that each is over in about a second: what disturbs pushes then disturbs the floor alike. */
const turns = 5;

interface SenderFigures {
  readonly sender: string;
  readonly pushesPerSecond: number;
  readonly cpuMicrosecondsPerPush: number;
  /** Pushes a CPU second against web-push's, and pushes a second; of the same run each. */
  readonly timesWebPush: number;
  readonly timesWebPushRate: number;
  /** The floor's CPU in this sender's, of the same processes. */
  readonly floorShare: number;
  readonly peakMemoryMB: number;
  readonly handshakes: number;
}

/** Of this sender's processes. */
interface FloorFigures {
  readonly cpuMicrosecondsPerPush: number;
  readonly timesWebPush: number;
}

const command = benchmark('bench', 'Compares the push rates of Carillon and other senders.')
  .option('--number <N>', 'pushes per run', wholeNumber, 10_000)
  .option('--in-flight <N>', 'pushes in flight, at most 480', wholeNumber, 100)
  .addOption(latencyOption('0'))
  .option('--runs <N>', 'runs of each sender, in turn', wholeNumber, 5)
  .action(run);
await runBenchmark(command);

async function run({ number, inFlight, latency, runs, json }: Options): Promise<void> {
  const load: Load = {
    number,
    // The code is compiled for speed only after some thousands of pushes.
    warmUp: 4000,
    inFlight,
    // Each turn ends with waiting for its last answers.
    turns: latency.median === 0 ? turns : 1,
    latency,
  };
  const results = await measure(load, runs);
  const figures = names.map((name) => senderFigures(name, results));
  const floor = floorFigures(results);
  const { output } = processTerminal;
  if (json) {
    output.write(
      `${JSON.stringify({ machine: machine(), load, runs, figures, floor }, null, 2)}\n`,
    );
    return;
  }
  output.write(
    `${describeMachine()}\n${number} pushes of 300 bytes, ${inFlight} in flight, answered after ` +
      `${describeLatency(latency)}; median of ${runs} runs\n\n${figuresTable(figures, floor)}`,
  );
}

type Results = Readonly<Record<SenderName, readonly Run[]>>;

/** Runs all senders in turn, so often: what disturbs the machine disturbs each of them alike. */
async function measure(load: Load, runs: number): Promise<Results> {
  const results: Record<SenderName, Run[]> = {
    carillon: [],
    'web-push': [],
    pushforge: [],
    block65: [],
  };
  const made = await bundles();
  const bar = progressBar(processTerminal.messages, 'Sending', runs * names.length);
  let done = 0;
  try {
    for (let run = 0; run < runs; run += 1) {
      for (const name of names) {
        results[name].push(await runSender(made, `bench/senders/${name}.ts`, load));
        bar.update(++done);
      }
    }
  } finally {
    bar.stop();
    await made.remove();
  }
  return results;
}

function senderFigures(name: SenderName, results: Results): SenderFigures {
  const runs = results[name];
  const paired = (ratio: (own: Run, run: number) => number) => median(runs.map(ratio));
  return {
    sender: senders[name],
    pushesPerSecond: paired(({ rate }) => rate),
    cpuMicrosecondsPerPush: paired(({ cpu }) => cpu),
    timesWebPush: paired(({ cpu }, run) => results['web-push'][run]!.cpu / cpu),
    timesWebPushRate: paired(({ rate }, run) => rate / results['web-push'][run]!.rate),
    floorShare: paired(({ cpu, floor }) => floor / cpu),
    peakMemoryMB: paired(({ memory }) => memory),
    handshakes: paired(({ handshakes }) => handshakes),
  };
}

function floorFigures(results: Results): FloorFigures {
  const runs = results.carillon;
  return {
    cpuMicrosecondsPerPush: median(runs.map(({ floor }) => floor)),
    timesWebPush: median(runs.map(({ floor }, run) => results['web-push'][run]!.cpu / floor)),
  };
}

function figuresTable(figures: readonly SenderFigures[], floor: FloorFigures): string {
  const columns = [
    { title: 'sender' },
    ...['CPU µs/push', '× web-push', 'floor’s share', 'pushes/s', '× web-push', 'MB', 'TLS'].map(
      (title) => ({ title, align: 'right' as const }),
    ),
  ];
  const rows = figures.map((one) => [
    one.sender,
    one.cpuMicrosecondsPerPush.toFixed(0),
    one.timesWebPush.toFixed(1),
    `${(100 * one.floorShare).toFixed(0)} %`,
    one.pushesPerSecond.toFixed(0),
    one.timesWebPushRate.toFixed(1),
    one.peakMemoryMB.toFixed(0),
    one.handshakes.toFixed(0),
  ]);
  const { cpuMicrosecondsPerPush, timesWebPush } = floor;
  rows.push([
    'floor: P-256 key pair + agreement',
    cpuMicrosecondsPerPush.toFixed(0),
    timesWebPush.toFixed(1),
    '100 %',
    ...Array<string>(4).fill('–'),
  ]);
  return table(columns, rows, paintFor(processTerminal.output));
}
