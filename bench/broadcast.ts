import { processTerminal } from '../admin/terminal/terminal.ts';
import { type BroadcastRun, createBroadcastRunner } from './broadcast/run.ts';
import {
  type BenchmarkOptions,
  benchmark,
  latencyOption,
  runBenchmark,
  wholeNumber,
} from './command.ts';
import { describeLatency, type Latency } from './latency.ts';

interface Options extends BenchmarkOptions {
  readonly subscribers: readonly number[];
  readonly latency: Latency;
  readonly async?: true;
}

// Suppresses the AWS SDK's warning about the version of Node, which would appear in the output.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

/** Columns of the results. */
const figures: Readonly<Record<string, (run: BroadcastRun) => number | string>> = {
  subscribers: ({ subscribers }) => subscribers,
  delivered: ({ result }) => result.delivered,
  removed: ({ result }) => result.removed,
  failed: ({ result }) => result.failed,
  unreached: ({ result }) => result.unreached ?? 0,
  seconds: ({ seconds }) => seconds.toFixed(2),
  'subscribers/s': ({ result, seconds }) => (result.attempted / seconds).toFixed(0),
  received: ({ received }) => received,
  connections: ({ handshakes }) => handshakes,
  'calls to DynamoDB': ({ calls }) => Object.values(calls).reduce((sum, one) => sum + one, 0),
  'process, MB': ({ peakMemoryMB }) => peakMemoryMB.toFixed(0),
};

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

async function run({ subscribers, latency, async }: Options) {
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
  return {
    json: { latency, runs },
    about:
      'One broadcast, from request to response; push server latency ' +
      `${describeLatency(latency)}; 1 % of the subscriptions gone`,
    columns: Object.keys(figures).map((title) => ({ title, align: 'right' as const })),
    rows: runs.map((one) => Object.values(figures).map((figure) => String(figure(one)))),
  };
}
