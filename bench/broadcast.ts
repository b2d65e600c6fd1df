import { table } from '../admin/terminal/table.ts';
import { paintFor, processTerminal } from '../admin/terminal/terminal.ts';
import { type BroadcastRun, broadcasts } from './broadcast/run.ts';
import { activities } from './broadcast/shares.ts';
import {
  type BenchmarkOptions,
  benchmark,
  latencyOption,
  runBenchmark,
  wholeNumber,
} from './command.ts';
import { describeLatency, type Latency } from './latency.ts';
import { describeMachine, machine } from './machine.ts';

const right = 'right' as const;

interface Options extends BenchmarkOptions {
  readonly subscribers: readonly number[];
  readonly latency: Latency;
}

// The SDK's own word about the age of Node is not for whoever reads the figures.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

const command = benchmark('bench:broadcast', 'Measures broadcasts through the local stack.')
  .option(
    '--subscribers <N,…>',
    'audience sizes',
    (text: string) => text.split(',').map(wholeNumber),
    [1000, 10_000, 100_000],
  )
  .addOption(latencyOption('60/400'))
  .action(run);
await runBenchmark(command);

async function run({ subscribers, latency, json }: Options): Promise<void> {
  const { output } = processTerminal;
  const stage = await broadcasts();
  const runs: BroadcastRun[] = [];
  try {
    for (const size of subscribers) runs.push(await stage.run(size, latency));
  } finally {
    await stage.end();
  }
  if (json) {
    output.write(`${JSON.stringify({ machine: machine(), latency, runs }, null, 2)}\n`);
    return;
  }
  output.write(
    `${describeMachine()}\nOne broadcast from request to response; pushes answered after ` +
      `${describeLatency(latency)}, one subscription in a hundred gone\n\n${runsTable(runs)}\n` +
      `Where the send function’s time goes\n\n${sharesTable(runs)}`,
  );
}

function runsTable(runs: readonly BroadcastRun[]): string {
  const columns = [
    'subscribers',
    'delivered',
    'removed',
    'failed',
    'unreached',
    'seconds',
    'subscribers/s',
    'connections',
    'calls to DynamoDB',
    'MB, process',
    'MB, function’s heap',
  ].map((title) => ({ title, align: right }));
  const rows = runs.map(({ subscribers, result, seconds, handshakes, calls, ...memory }) => [
    String(subscribers),
    String(result.delivered),
    String(result.removed),
    String(result.failed),
    String(result.unreached ?? 0),
    seconds.toFixed(2),
    (result.attempted / seconds).toFixed(0),
    String(handshakes),
    String(Object.values(calls).reduce((sum, one) => sum + one, 0)),
    memory.peakMemory.toFixed(0),
    memory.peakHeap.toFixed(0),
  ]);
  return table(columns, rows, paintFor(processTerminal.output));
}

function sharesTable(runs: readonly BroadcastRun[]): string {
  const columns = [
    { title: 'subscribers', align: right },
    ...[...activities, 'waiting'].map((title) => ({ title, align: right })),
    { title: 'busy µs a push', align: right },
  ];
  const rows = runs.map(({ subscribers, result, shares: { busy, waiting } }) => {
    const seconds = Object.values(busy).reduce((sum, one) => sum + one, 0);
    return [
      String(subscribers),
      ...activities.map((name) => `${((100 * busy[name]) / (seconds + waiting)).toFixed(0)} %`),
      `${((100 * waiting) / (seconds + waiting)).toFixed(0)} %`,
      ((seconds * 1e6) / result.attempted).toFixed(0),
    ];
  });
  return table(columns, rows, paintFor(processTerminal.output));
}
