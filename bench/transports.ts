import { progressBar } from '../admin/terminal/progress-bar.ts';
import { table } from '../admin/terminal/table.ts';
import { paintFor, processTerminal } from '../admin/terminal/terminal.ts';
import { bundles } from './bundle.ts';
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

/** Loads that each transport is measured under. The cold one counts its handshakes in. */
const loads = {
  warm: { number: 8000, warmUp: 4000, latency: { median: 0 } },
  'at 60 ms': { number: 4000, warmUp: 1000, latency: { median: 60 } },
  'at 200 ms': { number: 2000, warmUp: 1000, latency: { median: 200 } },
  cold: { number: 1000, warmUp: 0, latency: { median: 0 } },
} as const;
type LoadName = keyof typeof loads;
// An HTTP/1.1 server answers pipelined requests one after the other: a fixed latency makes a queue
// of them, some twenty pushes a second at 200 ms, which is not worth the wait.
const isTooSlow = (name: TransportName, load: LoadName) =>
  name === 'undici-pipelining' && loads[load].latency.median > 0;
const loadNames = Object.keys(loads) as LoadName[];

interface Options extends BenchmarkOptions {
  readonly inFlight: number;
  readonly runs: number;
}

interface Figures {
  readonly transport: string;
  /** Of the bundle with nothing else of weight in it. */
  readonly kilobytes: number;
  readonly byLoad: Readonly<
    Partial<Record<LoadName, { readonly cpu: number; readonly rate: number }>>
  >;
  /** TLS handshakes of the cold run. */
  readonly handshakes: number;
}

const command = benchmark('bench:transports', 'Compares HTTP clients that post encrypted bodies.')
  .option('--in-flight <N>', 'pushes in flight, at most 480', wholeNumber, 100)
  .option('--runs <N>', 'runs of each transport, in turn', wholeNumber, 3)
  .action(run);
await runBenchmark(command);

async function run({ inFlight, runs, json }: Options): Promise<void> {
  const figures = await measure(inFlight, runs);
  const { output } = processTerminal;
  if (json) {
    output.write(`${JSON.stringify({ machine: machine(), inFlight, runs, figures }, null, 2)}\n`);
    return;
  }
  output.write(
    `${describeMachine()}\nPosting bodies of 403 bytes over TLS, ${inFlight} in flight; CPU µs a push, ` +
      `and pushes a second; median of ${runs} runs\n\n${figuresTable(figures)}`,
  );
}

async function measure(inFlight: number, runs: number): Promise<Figures[]> {
  const made = await bundles();
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
          const result = await runSender(made, entry, { ...loads[load], inFlight, turns: 0 });
          const key = `${name} ${load}`;
          results.set(key, [...(results.get(key) ?? []), result]);
          bar.update(done);
        }
      }
    }
    return await Promise.all(
      names.map(async (name) => {
        const of = (load: LoadName, figure: (run: Run) => number) =>
          median(results.get(`${name} ${load}`)!.map(figure));
        const { bytes } = await made.of(`bench/transports/${name}.ts`);
        return {
          transport: transports[name],
          kilobytes: bytes / 1000,
          byLoad: Object.fromEntries(
            loadNames
              .filter((load) => !isTooSlow(name, load))
              .map((load) => [
                load,
                { cpu: of(load, ({ cpu }) => cpu), rate: of(load, ({ rate }) => rate) },
              ]),
          ),
          handshakes: of('cold', ({ handshakes }) => handshakes),
        };
      }),
    );
  } finally {
    bar.stop();
    await made.remove();
  }
}

function figuresTable(figures: readonly Figures[]): string {
  const columns = [
    { title: 'transport' },
    ...loadNames.flatMap((load) => [`${load}: CPU`, 'pushes/s']),
    'TLS',
    'kB',
  ].map((column) =>
    typeof column === 'string' ? { title: column, align: 'right' as const } : column,
  );
  const rows = figures.map(({ transport, byLoad, handshakes, kilobytes }) => [
    transport,
    ...loadNames.flatMap((load) => {
      const { cpu, rate } = byLoad[load] ?? {};
      return [cpu?.toFixed(0) ?? '–', rate?.toFixed(0) ?? '–'];
    }),
    handshakes.toFixed(0),
    kilobytes.toFixed(0),
  ]);
  return table(columns, rows, paintFor(processTerminal.output));
}
