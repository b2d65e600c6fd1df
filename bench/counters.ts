import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { progressBar } from '../admin/terminal/progress-bar.ts';
import { table } from '../admin/terminal/table.ts';
import { paintFor, processTerminal } from '../admin/terminal/terminal.ts';
import { sendStore } from '../lambdas/store/sends.ts';
import { subscriptionStore } from '../lambdas/store/subscriptions.ts';
import { type BenchmarkOptions, benchmark, runBenchmark, wholeNumber } from './command.ts';
import { conflictingDatabase, type Layout } from './counters/conflicting-database.ts';
import { describeMachine, machine } from './machine.ts';
import { median } from './run-sender.ts';

interface Options extends BenchmarkOptions {
  readonly seconds: number;
  readonly runs: number;
}

const layouts: readonly Layout[] = ['one item', 'parts'];
const projectId = 'bench';
const tables = {
  projects: 'Projects',
  subscriptions: 'Subscriptions',
  usage: 'Usage',
  notifications: 'Notifications',
  tallies: 'Tallies',
};

/** What one project gets in a second, at most these often. */
const cases: readonly Case[] = [
  { what: 'new subscriptions', rates: [25, 50, 100, 200, 400], request: subscribe },
  { what: 'sends', rates: [50, 100, 200], request: beginSend },
];

interface Case {
  readonly what: string;
  readonly rates: readonly number[];
  readonly request: (dynamo: DynamoDBDocumentClient) => () => Promise<unknown>;
}

/** Medians over the runs. */
interface CaseResult {
  readonly what: string;
  readonly perSecond: number;
  readonly layout: Layout;
  /** Requests per second that succeeded. */
  readonly succeeded: number;
  /** Percent of the requests that ended with 503. */
  readonly refusedPercent: number;
  readonly medianMs: number;
  readonly p99Ms: number;
}

const command = benchmark(
  'bench:counters',
  'Measures how many requests per second one project takes, where transactions on one item conflict.',
)
  .option('--seconds <N>', 'seconds of requests in each run', wholeNumber, 5)
  .option('--runs <N>', 'runs of each case, in turn', wholeNumber, 3);
await runBenchmark(command, run);

async function run({ seconds, runs, json }: Options): Promise<void> {
  const results = await measure(seconds, runs);
  const { output } = processTerminal;
  if (json) {
    output.write(`${JSON.stringify({ machine: machine(), seconds, runs, results }, null, 2)}\n`);
    return;
  }
  const right = 'right' as const;
  const columns = [
    { title: 'requests per second', align: right },
    { title: '' },
    { title: 'counted in' },
    { title: 'succeeded per second', align: right },
    { title: '503, %', align: right },
    { title: 'median, ms', align: right },
    { title: 'p99, ms', align: right },
  ];
  const rows = results.map((result) => [
    String(result.perSecond),
    result.what,
    result.layout,
    result.succeeded.toFixed(0),
    result.refusedPercent.toFixed(1),
    result.medianMs.toFixed(0),
    result.p99Ms.toFixed(0),
  ]);
  output.write(
    `${describeMachine()}\nOne project; transactions are prepared for 6 to 10 ms; median of ${runs} runs of ` +
      `${seconds} s\n\n${table(columns, rows, paintFor(output))}`,
  );
}

async function measure(seconds: number, runs: number): Promise<CaseResult[]> {
  const all = cases.flatMap(({ rates, ...one }) =>
    rates.flatMap((perSecond) =>
      layouts.map((layout) => ({ ...one, perSecond, layout, measured: [] as Measured[] })),
    ),
  );
  const bar = progressBar(processTerminal.messages, 'measuring', runs * all.length);
  for (let run = 0; run < runs; run += 1) {
    for (const [index, one] of all.entries()) {
      const { request, perSecond, layout, measured } = one;
      const dynamo = conflictingDatabase(layout);
      measured.push(await load(request(dynamo), perSecond, seconds));
      bar.update(run * all.length + index + 1);
    }
  }
  bar.stop();
  return all.map(({ what, perSecond, layout, measured }) => {
    const medianOf = (value: (one: Measured) => number) => median(measured.map(value));
    return {
      ...{ what, perSecond, layout },
      succeeded: medianOf(({ succeeded }) => succeeded),
      refusedPercent: medianOf(({ refusedPercent }) => refusedPercent),
      medianMs: medianOf(({ medianMs }) => medianMs),
      p99Ms: medianOf(({ p99Ms }) => p99Ms),
    };
  });
}

type Measured = Pick<CaseResult, 'succeeded' | 'refusedPercent' | 'medianMs' | 'p99Ms'>;

/** Makes requests at random times, whatever becomes of those before. */
async function load(
  request: () => Promise<unknown>,
  perSecond: number,
  seconds: number,
): Promise<Measured> {
  const number = perSecond * seconds;
  const start = performance.now();
  const times = Array.from({ length: number }, () => Math.random() * seconds * 1000).sort(
    (one, other) => one - other,
  );
  const latencies: number[] = [];
  let refused = 0;
  const requests: Promise<void>[] = [];
  for (const time of times) {
    const wait = start + time - performance.now();
    if (wait > 0) await sleep(wait);
    const startedAt = performance.now();
    requests.push(
      request().then(
        () => void latencies.push(performance.now() - startedAt),
        () => {
          refused += 1;
        },
      ),
    );
  }
  await Promise.all(requests);
  const passed = (performance.now() - start) / 1000;
  latencies.sort((one, other) => one - other);
  return {
    succeeded: latencies.length / passed,
    refusedPercent: (100 * refused) / number,
    medianMs: median(latencies),
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
  };
}

function subscribe(dynamo: DynamoDBDocumentClient) {
  const { save } = subscriptionStore(dynamo, tables, () => new Date());
  const keys = { p256dh: new Uint8Array(65), auth: new Uint8Array(16) };
  return () => {
    const path = `/${randomBytes(16).toString('base64url')}`;
    const origin = 'https://push.example';
    return save(projectId, { endpoint: { href: origin + path, origin, path }, keys }, 1_000_000);
  };
}

function beginSend(dynamo: DynamoDBDocumentClient) {
  const { begin } = sendStore(dynamo, tables);
  const plan = { users: 1, shares: 1, talliesPerShare: 1, respondedAsync: false };
  return () => {
    const id = randomUUID();
    const project = { projectId, projectCreatedAt: '2026-11-01T00:00:00.000Z' };
    const sentAt = new Date();
    return begin({ ...project, id, content: { title: 'T' }, plan, sentAt }, 1_000_000);
  };
}
