import { table } from '../admin/terminal/table.ts';
import { paintFor, processTerminal } from '../admin/terminal/terminal.ts';
import { type BroadcastRun, createBroadcastRunner } from './broadcast/run.ts';
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
  readonly async?: true;
}

// Suppresses the AWS SDK's warning about the version of Node, which would appear in the output.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

const command = benchmark('bench:broadcast', 'Measures broadcasts through the local stack.')
  .option(
    '--subscribers <N,…>',
    'audience sizes',
    (text: string) => text.split(',').map(wholeNumber),
    [1000, 10_000, 100_000],
  )
  .addOption(latencyOption('60/400'))
  .option('--async', 'do not wait for the response: read the notification until it is sent');
await runBenchmark(command, run);

async function run({ subscribers, latency, async, json }: Options): Promise<void> {
  const { output } = processTerminal;
  const runner = await createBroadcastRunner();
  const runs: BroadcastRun[] = [];
  try {
    for (const size of subscribers) {
      processTerminal.messages.write(`Sending to ${size} subscribers …\n`);
      runs.push(await runner.run(size, latency, async === true));
    }
  } finally {
    await runner.remove();
  }
  if (json) {
    output.write(`${JSON.stringify({ machine: machine(), latency, runs }, null, 2)}\n`);
    return;
  }
  output.write(
    `${describeMachine()}\nOne broadcast, from request to response; push server latency ` +
      `${describeLatency(latency)}; 1 % of the subscriptions gone\n\n${runsTable(runs)}`,
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
    'received',
    'connections',
    'calls to DynamoDB',
    'process, MB',
  ].map((title) => ({ title, align: right }));
  const rows = runs.map(
    ({ subscribers, result, received, seconds, handshakes, calls, peakMemoryMB }) => [
      String(subscribers),
      String(result.delivered),
      String(result.removed),
      String(result.failed),
      String(result.unreached ?? 0),
      seconds.toFixed(2),
      (result.attempted / seconds).toFixed(0),
      String(received),
      String(handshakes),
      String(Object.values(calls).reduce((sum, one) => sum + one, 0)),
      peakMemoryMB.toFixed(0),
    ],
  );
  return table(columns, rows, paintFor(processTerminal.output));
}
