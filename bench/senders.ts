import { processTerminal } from '../admin/terminal/terminal.ts';
import { createBundler } from './bundler.ts';
import {
  type BenchmarkOptions,
  benchmark,
  latencyOption,
  runBenchmark,
  wholeNumber,
} from './command.ts';
import { describeLatency, type Latency } from './latency.ts';
import { type Load, median, type Run, runSender } from './run-sender.ts';

const senders = {
  carillon: 'Carillon',
  'web-push': 'web-push, keep-alive agent',
  'web-push-cached-token': 'the same, one VAPID token',
} as const;
type SenderName = keyof typeof senders;
const names = Object.keys(senders) as SenderName[];

interface Options extends BenchmarkOptions {
  readonly number: number;
  readonly inFlight: number;
  readonly latency: Latency;
  readonly runs: number;
}

/** Each round takes about a second, so that a disturbance slows pushes and key agreements alike. */
const rounds = 5;

/** Medians. Ratios compare runs of the same turn. */
interface SenderResults {
  readonly sender: string;
  readonly pushesPerSecond: number;
  readonly cpuUsPerPush: number;
  /** Pushes per CPU second, relative to web-push. */
  readonly cpuTimesWebPush: number;
  /** Pushes per second, relative to web-push. */
  readonly rateTimesWebPush: number;
  /** The floor's part of this sender's CPU time, measured in the same process. */
  readonly floorShare: number;
  readonly peakMemoryMB: number;
  readonly handshakes: number;
}

/** The key agreements in Carillon's processes. */
interface FloorResults {
  readonly cpuUsPerPush: number;
  readonly cpuTimesWebPush: number;
}

const columns = [
  { title: 'sender' },
  ...['CPU µs/push', '× web-push', 'of which floor', 'pushes/s', '× web-push', 'MB', 'TLS'].map(
    (title) => ({ title, align: 'right' as const }),
  ),
];

const command = benchmark('bench', 'Compares the push rates of Carillon and web-push.')
  .option('--number <N>', 'pushes per run', wholeNumber, 10_000)
  .option('--in-flight <N>', 'pushes in flight, at most 480', wholeNumber, 100)
  .addOption(latencyOption('0'))
  .option('--runs <N>', 'runs of each sender, in turn', wholeNumber, 5);
await runBenchmark(command, run);

async function run({ number, inFlight, latency, runs }: Options) {
  const load: Load = {
    pushes: number,
    // V8 has optimized the code after some thousands of pushes.
    warmUpPushes: 4000,
    inFlight,
    // Each round ends with a wait for its last responses.
    rounds: latency.medianMs === 0 ? rounds : 1,
    latency,
  };
  const runsBySender = await measure(load, runs);
  const senderResults = names.map((name) => senderResultsOf(name, runsBySender));
  const floor = floorOf(runsBySender);
  return {
    json: { load, runs, senders: senderResults, floor },
    about:
      `${number} pushes of 300 bytes, ${inFlight} in flight, push server latency ` +
      `${describeLatency(latency)}; median of ${runs} runs`,
    columns,
    rows: rowsOf(senderResults, floor),
  };
}

type RunsBySender = Readonly<Record<SenderName, readonly Run[]>>;

/** Runs the senders in turn, so that a disturbance of the machine affects all of them. */
async function measure(load: Load, runs: number): Promise<RunsBySender> {
  const results: Record<SenderName, Run[]> = {
    carillon: [],
    'web-push': [],
    'web-push-cached-token': [],
  };
  const bundler = await createBundler();
  try {
    for (let run = 1; run <= runs; run += 1) {
      processTerminal.messages.write(`Run ${run} of ${runs}\n`);
      for (const name of names) {
        results[name].push(await runSender(bundler, `bench/senders/${name}.ts`, load));
      }
    }
  } finally {
    await bundler.remove();
  }
  return results;
}

function senderResultsOf(name: SenderName, runsBySender: RunsBySender): SenderResults {
  const webPush = runsBySender['web-push'];
  const medianOf = (figure: (run: Run, index: number) => number) =>
    median(runsBySender[name].map(figure));
  return {
    sender: senders[name],
    pushesPerSecond: medianOf(({ pushesPerSecond }) => pushesPerSecond),
    cpuUsPerPush: medianOf(({ cpuUsPerPush }) => cpuUsPerPush),
    cpuTimesWebPush: medianOf((run, index) => webPush[index]!.cpuUsPerPush / run.cpuUsPerPush),
    rateTimesWebPush: medianOf(
      (run, index) => run.pushesPerSecond / webPush[index]!.pushesPerSecond,
    ),
    floorShare: medianOf((run) => run.floorUsPerPush / run.cpuUsPerPush),
    peakMemoryMB: medianOf(({ peakMemoryMB }) => peakMemoryMB),
    handshakes: medianOf(({ handshakes }) => handshakes),
  };
}

function floorOf({ carillon, 'web-push': webPush }: RunsBySender): FloorResults {
  return {
    cpuUsPerPush: median(carillon.map(({ floorUsPerPush }) => floorUsPerPush)),
    cpuTimesWebPush: median(
      carillon.map((run, index) => webPush[index]!.cpuUsPerPush / run.floorUsPerPush),
    ),
  };
}

function rowsOf(results: readonly SenderResults[], floor: FloorResults) {
  const rows = results.map((one) => [
    one.sender,
    one.cpuUsPerPush.toFixed(0),
    one.cpuTimesWebPush.toFixed(1),
    `${(100 * one.floorShare).toFixed(0)} %`,
    one.pushesPerSecond.toFixed(0),
    one.rateTimesWebPush.toFixed(1),
    one.peakMemoryMB.toFixed(0),
    one.handshakes.toFixed(0),
  ]);
  rows.push([
    'floor with a key pair per message',
    floor.cpuUsPerPush.toFixed(0),
    floor.cpuTimesWebPush.toFixed(1),
    '100 %',
    ...Array<string>(4).fill('–'),
  ]);
  return rows;
}
