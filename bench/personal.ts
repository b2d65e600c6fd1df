import { table } from '../admin/terminal/table.ts';
import { paintFor, processTerminal } from '../admin/terminal/terminal.ts';
import { createBroadcastRunner, type RunningStack, type Send } from './broadcast/run.ts';
import { userIdOf } from './broadcast/seed.ts';
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

interface Options extends BenchmarkOptions {
  readonly users: number;
  readonly singles: number;
  readonly runs: number;
  readonly latency: Latency;
}

/** Medians over the runs, per message. */
interface Result {
  readonly way: string;
  readonly cpuMs: number;
  readonly calls: number;
  readonly seconds: number;
}

process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

const command = benchmark('bench:personal', 'Compares ways to send each user a message.')
  .option('--users <N>', 'users of one request', wholeNumber, 1000)
  .option('--singles <N>', 'requests to one user id each', wholeNumber, 200)
  .option('--runs <N>', 'of each way, in turn', wholeNumber, 7)
  .addOption(latencyOption('60/400'));
await runBenchmark(command, run);

/** The ways to send, and how many messages each sends. */
function waysTo({ users, singles }: Options) {
  const userIds = Array.from({ length: users }, (_, index) => userIdOf(index));
  const valuesOf = (userId: string) => ({ name: `Name of ${userId}`, order: `order-${userId}` });
  const textFor = (name: string, order: string) => ({
    title: `Hello ${name}`,
    body: `Your order ${order} is on its way. ${'x'.repeat(150)}`,
    url: `https://example.com/orders/${order}`,
  });
  const recipients = userIds.map((userId) => ({ userId, values: valuesOf(userId) }));
  const template = textFor('{{name}}', '{{order}}');
  const sameText = textFor('Name of user-500', 'order-user-500');
  return {
    'one request, recipients with values': {
      messages: users,
      send: async (send: Send) => void (await send({ ...template, recipients })),
    },
    'one request, userIds': {
      messages: users,
      send: async (send: Send) => void (await send({ ...sameText, userIds })),
    },
    'a request for each user id': {
      messages: singles,
      async send(send: Send) {
        for (const userId of userIds.slice(0, singles)) {
          await send({ ...sameText, userIds: [userId] });
        }
      },
    },
  };
}

async function run(options: Options): Promise<void> {
  const { users, runs, latency, json } = options;
  const subscribers = { count: users, goneEvery: Number.POSITIVE_INFINITY, haveUserIds: true };
  const runner = await createBroadcastRunner();
  let results: readonly Result[];
  try {
    results = await runner.withStack(subscribers, latency, (stack) => measure(stack, options));
  } finally {
    await runner.remove();
  }
  const { output } = processTerminal;
  if (json) {
    output.write(`${JSON.stringify({ machine: machine(), users, runs, results }, null, 2)}\n`);
    return;
  }
  const right = 'right' as const;
  const columns = [
    { title: 'per 1,000 messages' },
    ...['CPU ms', 'calls to DynamoDB', 'seconds'].map((title) => ({ title, align: right })),
  ];
  const rows = results.map(({ way, cpuMs, calls, seconds }) => [
    ...[way, (1000 * cpuMs).toFixed(0), (1000 * calls).toFixed(0), (1000 * seconds).toFixed(1)],
  ]);
  output.write(
    `${describeMachine()}\nCPU time of gateway, functions and DynamoDB proxy; push server latency ` +
      `${describeLatency(latency)}; median of ${runs} runs\n\n${table(columns, rows, paintFor(output))}`,
  );
}

async function measure(stack: RunningStack, options: Options): Promise<readonly Result[]> {
  const results = new Map<string, Result[]>();
  const ways = Object.entries(waysTo(options));
  // The first run warms the code up.
  for (let run = 0; run <= options.runs; run += 1) {
    for (const [way, { messages, send }] of ways) {
      const startedAt = performance.now();
      const [, { cpuMs, calls }] = await stack.measure(send);
      const result = {
        way,
        cpuMs: cpuMs / messages,
        calls: Object.values(calls).reduce((sum, one) => sum + one, 0) / messages,
        seconds: (performance.now() - startedAt) / 1000 / messages,
      };
      if (run > 0) results.set(way, [...(results.get(way) ?? []), result]);
    }
  }
  return [...results].map(([way, all]) => ({
    way,
    cpuMs: median(all.map(({ cpuMs }) => cpuMs)),
    calls: median(all.map(({ calls }) => calls)),
    seconds: median(all.map(({ seconds }) => seconds)),
  }));
}
