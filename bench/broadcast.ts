import { createECDH, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { localConfig } from '../admin/local-config.ts';
import { projectRegistry } from '../admin/project-registry.ts';
import {
  batchImport,
  type ImportedSubscription,
  importSubscriptions,
} from '../admin/store/subscription-import.ts';
import { projectTables } from '../contract/infrastructure/tables.ts';
import { pathOf } from '../contract/text/addresses.ts';
import type { NotificationResult, SendResult } from '../contract/wire/notification.ts';
import { routes } from '../contract/wire/routes.ts';
import { documentClient } from '../lambdas/store/dynamo.ts';
import { endpointHash, type KeyedProject, subscriptionKey } from '../lambdas/store/items.ts';
import { projectStore } from '../lambdas/store/projects.ts';
import { provideAssembly } from '../local/assembly.ts';
import { type Stack, startStack } from '../local/stack.ts';
import { compareLanguages, compareWith } from './against.ts';
import { bundle, startChild } from './processes.ts';
import type { Latency } from './push-server.ts';
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
  readonly against?: string;
  readonly pairs: number;
  readonly languages: number;
  readonly againstOne?: boolean;
}

// Suppresses the AWS SDK's warning about the version of Node, which would appear in the output.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

const projectId = 'bench';
/** One in this many subscriptions is gone. */
const goneEvery = 100;
/** Of the readers. The notification itself is in the first one. */
const tags = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'ja', 'ar'];
/** Number of key pairs. Further subscriptions share them. */
const keyPairs = 500;

const command = measurement('bench:broadcast', 'Measures broadcasts through the local stack.')
  .option(
    '--subscribers <N,…>',
    'audience sizes',
    (text: string) => text.split(',').map(wholeNumber),
    [1000, 10_000, 100_000],
  )
  .option(...latencyOption('60/400'))
  .option('--async', 'do not wait for the response: read the notification until it is sent')
  .option('--against <commit>', 'compare the CPU time of the functions with that at a commit')
  .option('--languages <N>', 'languages of the notification, at most 10', wholeNumber, 1)
  .option('--against-one', 'compare the CPU time of the functions with that of one language')
  .option('--pairs <N>', 'how often both are measured', wholeNumber, 6);
await runMeasurement(command, measure);

async function measure(options: Options) {
  const { subscribers, latency, async: isAsync = false, against, pairs } = options;
  if (against !== undefined || options.againstOne) {
    const runs =
      against === undefined
        ? compareLanguages(options.languages, subscribers[0]!, pairs)
        : await compareWith(against, subscribers[0]!, pairs);
    const sum = (figure: 'before' | 'now') => runs.reduce((total, one) => total + one[figure], 0);
    const ratios = runs.map(({ ratio }) => ratio);
    const [least, most] = [Math.min(...ratios), Math.max(...ratios)].map((one) => one.toFixed(2));
    const about = `CPU ms of the functions for ${subscribers[0]} subscribers, ${against === undefined ? `in one language and ${options.languages}` : `at ${against} and now`}`;
    const ratio = (sum('now') / sum('before')).toFixed(3);
    return { json: { runs }, about: `${about}: × ${ratio} (${least} to ${most})`, table: runs };
  }
  // In the folder of all temporary files, so that a cached assembly can be used.
  const assembly = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
  const pushServer = startChild(await bundle('bench/push-server.ts'), latency);
  const runs: Awaited<ReturnType<typeof runBroadcast>>[] = [];
  try {
    const { port } = await pushServer.receive<{ port: number }>();
    await provideAssembly({ directory: assembly });
    for (const size of subscribers) {
      progress(`Sending to ${size} subscribers …`);
      const origin = `https://127.0.0.1:${port}`;
      runs.push(await runBroadcast(assembly, origin, size, isAsync, options.languages));
    }
  } finally {
    await rm(assembly, { recursive: true });
    await pushServer.stop();
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

/** Starts a stack with this many subscribers, which sends one broadcast. */
async function runBroadcast(
  assembly: string,
  pushOrigin: string,
  subscribers: number,
  isAsync: boolean,
  languages: number,
) {
  /** Calls to DynamoDB during the broadcast, by operation. */
  let calls: Record<string, number> = {};
  const stack = await startStack({
    assembly,
    environment: { EXTRA_PUSH_ORIGINS: pushOrigin },
    onDynamoDbCall: ({ operation }) => {
      calls[operation] = (calls[operation] ?? 0) + 1;
      return undefined;
    },
  });
  try {
    const secretKey = await seed(stack.dynamodb, pushOrigin, subscribers);
    const owner = { baseUrl: stack.baseUrl, secretKey };
    // Starts the function, so that the measurement excludes its cold start.
    await broadcast(owner, { title: 'Nobody', userIds: ['nobody'] }, false);
    calls = {};
    const start = performance.now();
    const text = { title: 'Hello', body: 'x'.repeat(200) };
    const translations = Object.fromEntries(tags.slice(1, languages).map((tag) => [tag, text]));
    const result = await broadcast(owner, { ...text, translations }, isAsync);
    const seconds = (performance.now() - start) / 1000;
    return { subscribers, result, seconds, calls };
  } finally {
    await stack.stop();
  }
}

interface Owner {
  readonly baseUrl: string;
  readonly secretKey: string;
}

/** @param isAsync whether the caller does not wait, and reads the notification until it is sent. */
async function broadcast({ baseUrl, secretKey }: Owner, notification: object, isAsync: boolean) {
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${secretKey}`,
    ...(isAsync && { prefer: 'respond-async' }),
  };
  const request = { method: 'POST', headers, body: JSON.stringify(notification) };
  const sent = await call<SendResult>(baseUrl + pathOf(routes.send, { projectId }), request);
  if (!isAsync) return sent;
  const url = baseUrl + pathOf(routes.getNotification, { projectId, notificationId: sent.id });
  for (;;) {
    const read = await call<NotificationResult>(url, { headers });
    if (read.status !== 'sending') return read;
    await sleep(250);
  }
}

async function call<Body>(url: string, request: RequestInit): Promise<Body> {
  const response = await fetch(url, request);
  const body = await response.json();
  if (response.ok) return body as Body;
  throw new Error(`${url} returned ${response.status}: ${JSON.stringify(body)}`);
}

/**
 * Creates a project and writes its subscriptions into the tables.
 * @returns the project's secret key.
 */
async function seed(
  { endpoint, tables }: Stack['dynamodb'],
  pushOrigin: string,
  subscribers: number,
): Promise<string> {
  const dynamo = documentClient(localConfig(endpoint));
  const clock = () => new Date();
  try {
    const names = projectTables(tables);
    const { secretKey } = await projectRegistry(dynamo, names, clock).create({
      projectId,
      // The benchmark reads the notification several times per second.
      settings: { rateLimitPerMinute: null, subscriberCap: null },
      random: randomBytes,
    });
    const projects = projectStore(dynamo, names.projects, clock);
    const importBatch = batchImport(dynamo, names, projects, subscribers);
    const project = await projects.find(projectId);
    const items = subscriptions(project!, pushOrigin, subscribers);
    await importSubscriptions(items, { projectId, importBatch, sleep });
    return secretKey;
  } finally {
    dynamo.destroy();
  }
}

async function* subscriptions(
  project: KeyedProject,
  origin: string,
  count: number,
): AsyncGenerator<ImportedSubscription> {
  const curve = createECDH('prime256v1');
  const keys = Array.from({ length: Math.min(keyPairs, count) }, () => ({
    p256dh: curve.generateKeys(),
    auth: randomBytes(16),
  }));
  const now = Date.now();
  for (let index = 0; index < count; index += 1) {
    const folder = index % goneEvery === 0 ? 'gone' : 'push';
    // Its length is that of an FCM endpoint.
    const path = `/${folder}/${randomBytes(115).toString('base64url')}`;
    yield {
      ...subscriptionKey(project.ref, endpointHash(project, origin + path)),
      origin,
      path,
      ...keys[index % keys.length]!,
      createdAt: now,
      updatedAt: now,
      vapidPairNumber: 0,
      locale: `${tags[index % tags.length]}-CH`,
    };
  }
}
