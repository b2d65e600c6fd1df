import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { localConfig } from '../admin/local-config.ts';
import { type ProjectRegistry, projectRegistry } from '../admin/project-registry.ts';
import { projectTables } from '../admin/project-tables.ts';
import { progressBar } from '../admin/terminal/progress-bar.ts';
import { table } from '../admin/terminal/table.ts';
import { paintFor, processTerminal } from '../admin/terminal/terminal.ts';
import { pathOf, type Route, routes } from '../contract/routes.ts';
import type { SendResult } from '../contract/schemas/notification.ts';
import { documentClient } from '../lambdas/store/dynamo.ts';
import { type Stack, startStack } from '../local/stack.ts';
import { type BenchmarkOptions, benchmark, runBenchmark, wholeNumber } from './command.ts';
import { describeMachine, machine } from './machine.ts';
import { RecordedRounds } from './recorded-rounds.ts';
import { median } from './run-sender.ts';

interface Options extends BenchmarkOptions {
  readonly runs: number;
}

/** What calls of functions to DynamoDB usually take in AWS. Assumed. */
const callMs: Readonly<Record<string, number>> = {
  GetItem: 4,
  Query: 5,
  BatchGetItem: 5,
  UpdateItem: 6,
  TransactGetItems: 10,
  TransactWriteItems: 16,
};

/** Medians over the runs. */
interface Result {
  readonly request: string;
  /** Whether the function has the project in memory. */
  readonly project: 'uncached' | 'cached';
  readonly calls: number;
  readonly rounds: number;
  /** The slowest call of each round. */
  readonly databaseMs: number;
  readonly responseMs: number;
}

/** Requests of each run, in a new project each. No preparation calls the function of its route. */
const requests: Readonly<Record<string, MeasuredRequest>> = {
  subscribe: {
    route: routes.subscribe,
    prepare: async ({ newBrowser }) => ({ body: newBrowser() }),
  },
  send: { route: routes.send, prepare: async () => ({ body: { title: 'T' } }) },
  'send to a user id': {
    route: routes.send,
    prepare: async () => ({ body: { title: 'T', userIds: ['ada'] } }),
  },
  track: {
    route: routes.track,
    prepare: async ({ send }) => ({ notificationId: await send(), body: { type: 'shown' } }),
  },
  getNotification: {
    route: routes.getNotification,
    prepare: async ({ send }) => ({ notificationId: await send() }),
  },
  'stopNotification, already sent': {
    route: routes.stopNotification,
    prepare: async ({ send }) => ({ notificationId: await send() }),
  },
  listNotifications: {
    route: routes.listNotifications,
    async prepare({ send }) {
      await send();
      return {};
    },
  },
  getProject: { route: routes.getProject, prepare: async () => ({}) },
  getUser: { route: routes.getUser, prepare: async () => ({ query: '?userId=ada' }) },
  removeUser: {
    route: routes.removeUser,
    async prepare({ call, newBrowser }) {
      await call(routes.subscribe, { body: { ...newBrowser(), userId: 'ada' } });
      return { query: '?userId=ada' };
    },
  },
  unsubscribe: {
    route: routes.unsubscribe,
    async prepare({ call, newBrowser }) {
      const body = newBrowser();
      await call(routes.subscribe, { body });
      return { query: `?endpoint=${encodeURIComponent(body.endpoint)}` };
    },
  },
};

interface MeasuredRequest {
  readonly route: Route;
  prepare(owner: Owner): Promise<RequestParts>;
}

interface RequestParts {
  readonly notificationId?: string;
  readonly query?: string;
  readonly body?: object;
}

/** A project's browsers, and its owner's server. */
type Owner = Awaited<ReturnType<typeof newOwner>>;

async function newOwner(registry: ProjectRegistry, { baseUrl, pushService }: Stack) {
  const { project, secretKey } = await registry.create({
    projectId: randomUUID(),
    // Above the requests of this benchmark; without a limit they would not be counted.
    plan: { rateLimitPerMinute: 1_000_000 },
    random: randomBytes,
  });
  const { projectId } = project;
  async function call(route: Route, { notificationId = '', query = '', body }: RequestParts) {
    const url = baseUrl + pathOf(route, { projectId, notificationId }) + query;
    const response = await fetch(url, {
      method: route.method,
      headers: {
        authorization: `Bearer ${secretKey}`,
        'content-type': 'application/json',
        'idempotency-key': randomUUID(),
      },
      body: body && JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${route.name} returned ${response.status}.`);
    return response.json();
  }
  return {
    call,
    newBrowser: () => pushService.subscribe().toJSON(),
    async send(): Promise<string> {
      const { id } = (await call(routes.send, { body: { title: 'T' } })) as SendResult;
      return id;
    },
  };
}

const command = benchmark(
  'bench:latency',
  'Measures how long each route takes, with a database that is as slow as in AWS.',
).option('--runs <N>', 'requests of each route, in turn', wholeNumber, 20);
await runBenchmark(command, run);

async function run({ runs, json }: Options): Promise<void> {
  const results = await measure(runs);
  const { output } = processTerminal;
  if (json) {
    output.write(`${JSON.stringify({ machine: machine(), callMs, runs, results }, null, 2)}\n`);
    return;
  }
  const right = 'right' as const;
  const columns = [
    { title: 'request' },
    { title: 'project' },
    { title: 'calls', align: right },
    { title: 'rounds', align: right },
    { title: 'database, ms', align: right },
    { title: 'response, ms', align: right },
  ];
  const rows = results.map(({ request, project, ...numbers }) => [
    ...[request, project, String(numbers.calls), String(numbers.rounds)],
    ...[numbers.databaseMs.toFixed(0), numbers.responseMs.toFixed(0)],
  ]);
  const slowness = Object.entries(callMs).map(([operation, ms]) => `${operation} ${ms}`);
  output.write(
    `${describeMachine()}\nEach call takes longer than here by ${slowness.join(', ')} ms; median of ${runs} runs\n\n` +
      table(columns, rows, paintFor(output)),
  );
}

async function measure(runs: number): Promise<readonly Result[]> {
  let recorded = new RecordedRounds();
  let slowestMs: number[] = [];
  const stack = await startStack({
    // One instance per function, so that a second request finds the project in memory.
    concurrency: 1,
    throttled: false,
    onDynamoDbCall: async (call) => {
      const round = recorded.record(call);
      const ms = callMs[call.operation]!;
      slowestMs[round] = Math.max(slowestMs[round] ?? 0, ms);
      await sleep(ms);
      return undefined;
    },
  });
  const dynamo = documentClient(localConfig(stack.dynamodb.endpoint));
  const registry = projectRegistry(dynamo, projectTables(stack.dynamodb.tables), () => new Date());
  const bar = progressBar(processTerminal.messages, 'Requesting', runs);
  const results = new Map<string, Result[]>();
  try {
    for (let run = 1; run <= runs; run += 1) {
      for (const [request, { route, prepare }] of Object.entries(requests)) {
        // Its function has not read this project yet.
        const owner = await newOwner(registry, stack);
        for (const project of ['uncached', 'cached'] as const) {
          const parts = await prepare(owner);
          recorded = new RecordedRounds();
          slowestMs = [];
          const startedAt = performance.now();
          await owner.call(route, parts);
          const responseMs = performance.now() - startedAt;
          const earlier = results.get(`${request} ${project}`) ?? [];
          const result: Result = {
            ...{ request, project, responseMs },
            calls: recorded.rounds.flat().length,
            rounds: recorded.rounds.length,
            databaseMs: slowestMs.reduce((sum, ms) => sum + ms, 0),
          };
          results.set(`${request} ${project}`, [...earlier, result]);
        }
      }
      bar.update(run);
    }
  } finally {
    bar.stop();
    dynamo.destroy();
    await stack.stop();
  }
  return [...results.values()].map(medians);
}

function medians(results: readonly Result[]): Result {
  const medianOf = (value: (one: Result) => number) => median(results.map(value));
  return {
    ...results[0]!,
    calls: medianOf(({ calls }) => calls),
    rounds: medianOf(({ rounds }) => rounds),
    databaseMs: medianOf(({ databaseMs }) => databaseMs),
    responseMs: medianOf(({ responseMs }) => responseMs),
  };
}
