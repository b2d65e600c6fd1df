import { progressBar } from '../admin/terminal/progress-bar.ts';
import { table } from '../admin/terminal/table.ts';
import { paintFor, processTerminal } from '../admin/terminal/terminal.ts';
import { createBundler } from './bundler.ts';
import { type BenchmarkOptions, benchmark, runBenchmark, wholeNumber } from './command.ts';
import { describeMachine, machine } from './machine.ts';
import { median, type Run, runSender } from './run-sender.ts';

const transports = {
  carillon: 'lambdas/push/transport/transport.ts',
  'undici-dispatch': 'undici, Pool.dispatch',
  'undici-request': 'undici, Pool.request',
  'undici-pipelining': 'undici, 4 connections × pipelining 25',
  'undici-http2': 'undici, HTTP/2',
  http2: 'node:http2, 2 sessions',
  'https-agent': 'https.request, keep-alive agent',
} as const;
type TransportName = keyof typeof transports;
const names = Object.keys(transports) as TransportName[];

/** Each transport is measured with each load. `cold` includes the TLS handshakes. */
const loads = {
  warm: { pushes: 8000, warmUpPushes: 4000, latency: { medianMs: 0 } },
  '60 ms': { pushes: 4000, warmUpPushes: 1000, latency: { medianMs: 60 } },
  '200 ms': { pushes: 2000, warmUpPushes: 1000, latency: { medianMs: 200 } },
  cold: { pushes: 1000, warmUpPushes: 0, latency: { medianMs: 0 } },
} as const;
type LoadName = keyof typeof loads;
// An HTTP/1.1 server responds to pipelined requests in sequence: with a latency of 200 ms, 4
// connections make 20 pushes per second.
const isTooSlow = (name: TransportName, load: LoadName) =>
  name === 'undici-pipelining' && loads[load].latency.medianMs > 0;
const loadNames = Object.keys(loads) as LoadName[];

interface Options extends BenchmarkOptions {
  readonly inFlight: number;
  readonly runs: number;
}

/** Medians. */
interface TransportResults {
  readonly transport: string;
  /** Size of a bundle with little else than the transport. */
  readonly bundleKB: number;
  readonly byLoad: Readonly<
    Partial<Record<LoadName, Pick<Run, 'cpuUsPerPush' | 'pushesPerSecond'>>>
  >;
  /** TLS handshakes of the cold run. */
  readonly handshakes: number;
}

const command = benchmark('bench:transports', 'Compares HTTP clients that post encrypted bodies.')
  .option('--in-flight <N>', 'pushes in flight, at most 480', wholeNumber, 100)
  .option('--runs <N>', 'runs of each transport, in turn', wholeNumber, 3);
await runBenchmark(command, run);

async function run({ inFlight, runs, json }: Options): Promise<void> {
  const results = await measure(inFlight, runs);
  const { output } = processTerminal;
  if (json) {
    const text = JSON.stringify(
      { machine: machine(), inFlight, runs, transports: results },
      null,
      2,
    );
    output.write(`${text}\n`);
    return;
  }
  output.write(
    `${describeMachine()}\nBodies of 403 bytes over TLS, ${inFlight} in flight; CPU µs/push and ` +
      `pushes/s by push server latency; median of ${runs} runs\n\n${resultsTable(results)}`,
  );
}

async function measure(inFlight: number, runs: number): Promise<TransportResults[]> {
  const bundler = await createBundler();
  const results = new Map<string, Run[]>();
  const bar = progressBar(
    processTerminal.messages,
    'Posting',
    runs * names.length * loadNames.length,
  );
  let done = 0;
  try {
    for (let run = 0; run < runs; run += 1) {
      for (const load of loadNames) {
        for (const name of names) {
          done += 1;
          if (isTooSlow(name, load)) continue;
          const entry = `bench/transports/${name}.ts`;
          const result = await runSender(bundler, entry, { ...loads[load], inFlight, rounds: 0 });
          const key = `${name} ${load}`;
          results.set(key, [...(results.get(key) ?? []), result]);
          bar.update(done);
        }
      }
    }
    return await Promise.all(
      names.map(async (name) => {
        const medianOf = (load: LoadName, figure: (run: Run) => number) =>
          median(results.get(`${name} ${load}`)!.map(figure));
        const { sizeBytes } = await bundler.bundle(`bench/transports/${name}.ts`);
        return {
          transport: transports[name],
          bundleKB: sizeBytes / 1000,
          byLoad: Object.fromEntries(
            loadNames
              .filter((load) => !isTooSlow(name, load))
              .map((load) => [
                load,
                {
                  cpuUsPerPush: medianOf(load, ({ cpuUsPerPush }) => cpuUsPerPush),
                  pushesPerSecond: medianOf(load, ({ pushesPerSecond }) => pushesPerSecond),
                },
              ]),
          ),
          handshakes: medianOf('cold', ({ handshakes }) => handshakes),
        };
      }),
    );
  } finally {
    bar.stop();
    await bundler.remove();
  }
}

function resultsTable(results: readonly TransportResults[]): string {
  const columns = [
    { title: 'transport' },
    ...loadNames.flatMap((load) => [`${load}: CPU`, 'pushes/s']),
    'TLS',
    'kB',
  ].map((column) =>
    typeof column === 'string' ? { title: column, align: 'right' as const } : column,
  );
  const rows = results.map(({ transport, byLoad, handshakes, bundleKB }) => [
    transport,
    ...loadNames.flatMap((load) => {
      const { cpuUsPerPush, pushesPerSecond } = byLoad[load] ?? {};
      return [cpuUsPerPush?.toFixed(0) ?? '–', pushesPerSecond?.toFixed(0) ?? '–'];
    }),
    handshakes.toFixed(0),
    bundleKB.toFixed(0),
  ]);
  return table(columns, rows, paintFor(processTerminal.output));
}
