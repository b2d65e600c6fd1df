import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { provideAssembly } from '../local/assembly.ts';
import type { BroadcastResult, BroadcastTask } from './broadcast/run.ts';
import { certificate } from './certificate.ts';
import { bundle, startChild, temporaryFolder } from './processes.ts';
import type { Latency, PushServerCounts } from './push-server.ts';
import {
  describeLatency,
  latencyOption,
  measurement,
  progress,
  runMeasurement,
  wholeNumber,
} from './runner.ts';

interface Options {
  readonly subscribers: readonly number[];
  readonly latency: Latency;
  readonly async?: boolean;
}

// Suppresses the AWS SDK's warning about the version of Node, which would appear in the output.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

const command = measurement('bench:broadcast', 'Measures broadcasts through the local stack.')
  .option(
    '--subscribers <N,…>',
    'audience sizes',
    (text: string) => text.split(',').map(wholeNumber),
    [1000, 10_000, 100_000],
  )
  .option(...latencyOption('60/400'))
  .option('--async', 'do not wait for the response: read the notification until it is sent');
await runMeasurement(command, measure);

async function measure({ subscribers, latency, async: isAsync = false }: Options) {
  // In the folder of all temporary files, so that a cached assembly can be used.
  const assembly = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
  const runs: Awaited<ReturnType<typeof runBroadcast>>[] = [];
  try {
    await provideAssembly({ directory: assembly });
    for (const size of subscribers) {
      progress(`Sending to ${size} subscribers …`);
      runs.push(await runBroadcast({ assembly, subscribers: size, isAsync }, latency));
    }
  } finally {
    await rm(assembly, { recursive: true });
  }
  return {
    json: { latency, runs },
    about:
      'One broadcast, from request to response; push server latency ' +
      `${describeLatency(latency)}; 1 % of the subscriptions gone`,
    table: runs.map(({ result, calls, ...run }) => {
      const { attempted, delivered, removed, failed, unreached = 0 } = result;
      const all = Object.values(calls).reduce((sum, one) => sum + one, 0);
      return { ...run, attempted, delivered, removed, failed, unreached, calls: all };
    }),
  };
}

/** Starts a push server, and a stack with this many subscribers that sends one broadcast. */
async function runBroadcast(task: Omit<BroadcastTask, 'pushOrigin'>, latency: Latency) {
  const pushServer = startChild(await bundle('bench/push-server.ts'), latency);
  const { port } = await pushServer.receive<{ port: number }>();
  const ca = join(temporaryFolder, 'ca.pem');
  await writeFile(ca, certificate.cert);
  const stack = startChild(
    'bench/broadcast/run.ts',
    { ...task, pushOrigin: `https://127.0.0.1:${port}` },
    { env: { NODE_EXTRA_CA_CERTS: ca }, execArgv: ['--import', 'tsx'] },
  );
  try {
    const { subscribers } = task;
    const { result, seconds, ...report } = await stack.receive<BroadcastResult>();
    pushServer.send({});
    const { handshakes, received } = await pushServer.receive<PushServerCounts>();
    return { subscribers, result, seconds, handshakes, received, ...report };
  } finally {
    await Promise.all([pushServer.stop(), stack.exited]);
  }
}
