import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { relative } from 'node:path';
import { InvokeCommand, type InvokeCommandInput, LambdaClient } from '@aws-sdk/client-lambda';
import type { ProjectRef } from '../../../contract/project.ts';
import { slicesOf } from '../../../lambdas/send/divide.ts';
import type { Stack, StackOptions } from '../../../local/stack.ts';
import { type Assembly, readAssembly, resourcesOf } from '../../../local/template/template.ts';
import { sharedAssembly, writeAssembly } from '../../fixtures/assembly.ts';
import { type Folder, temporaryFolder } from '../../fixtures/folder.ts';
import { startLocalStack } from '../../fixtures/local-stack.ts';
import { until } from '../../fixtures/until.ts';

const assembly = readAssembly(sharedAssembly());

let folder: Folder;
let stack: Stack;
let logs: string[];

beforeEach(() => {
  folder = temporaryFolder();
  logs = [];
});
afterEach(async () => {
  await stack.stop();
  folder.remove();
});

async function start(options: StackOptions = {}): Promise<void> {
  stack = await startLocalStack({ onLog: ({ text }) => logs.push(text), ...options });
}

/** The assembly with another deliver function. @returns its directory. */
function assemblyWith(source: string, { directory, template }: Assembly = assembly): string {
  folder.write('deliver/index.mjs', source);
  const changed = structuredClone(template);
  const [, { Metadata }] = resourcesOf(changed, 'AWS::Lambda::Function').find(([logicalId]) =>
    logicalId.startsWith('Deliver'),
  )!;
  const bundle = relative(directory, `${folder.path}/deliver`);
  (Metadata as Record<string, string>)['aws:asset:path'] = bundle;
  return writeAssembly(folder, changed, assembly);
}

/** A slice of a project that does not exist: deliver does nothing. */
const [slice] = slicesOf(
  {
    projectId: 'demo',
    project: 'r' as ProjectRef,
    notificationId: randomUUID(),
    sentAt: Date.now(),
    content: { title: 'T' },
    conditions: {},
    requestId: 'request',
    eventsUrl: 'https://push.example.com/events',
    expiresAt: 5_000_000_000,
  },
  { subscribers: 0 },
  { slices: 1, countersPerSlice: 1 },
  1000,
);

const named = (name: string) => [...stack.functions.keys()].find((id) => id.startsWith(name))!;

/** Invokes deliver as a function does. */
async function invoke(input: Partial<InvokeCommandInput> = {}, caller = 'Send') {
  const client = new LambdaClient({
    endpoint: stack.lambdaEndpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: named(caller), secretAccessKey: 'local' },
    maxAttempts: 1,
  });
  try {
    const Payload = JSON.stringify(slice);
    const { Payload: result, ...output } = await client.send(
      new InvokeCommand({ FunctionName: named('Deliver'), Payload, ...input }),
    );
    return { ...output, result: result?.transformToString() };
  } finally {
    client.destroy();
  }
}

test('a request of the gateway counts as an execution', async () => {
  const calls = new EventEmitter();
  await start({
    accountConcurrency: 1,
    onDynamoDbCall: async () => {
      calls.emit('held');
      await once(calls, 'go');
      return undefined;
    },
  });
  const held = once(calls, 'held');
  const url = `${stack.baseUrl}/api/v1/projects/demo?endpoint=x`;
  const response = fetch(url, { method: 'DELETE' });
  await held;
  await expect(invoke()).rejects.toMatchObject({ name: 'TooManyRequestsException' });
  calls.on('held', () => setImmediate(() => calls.emit('go')));
  calls.emit('go');
  await response;
  expect(await invoke()).toMatchObject({ StatusCode: 200 });
});

test('a request of the gateway that is throttled gets 503', async () => {
  const assembly = assemblyWith('export const handler = () => new Promise(() => {});');
  await start({ assembly, accountConcurrency: 1 });
  await invoke({ InvocationType: 'Event' });
  const response = await fetch(`${stack.baseUrl}/api/v1/projects/demo`, { method: 'OPTIONS' });
  expect(response.status).toBe(503);
});

test('stopping the stack stops the background invocations', async () => {
  await start({
    assembly: assemblyWith(`export const handler = (event) => {
      console.log('started');
      if (event.hang) return new Promise(() => {});
      throw new Error('failed');
    };`),
    retryDelaysMs: [100],
  });
  await invoke({ InvocationType: 'Event', Payload: '{"hang":true}' });
  await invoke({ InvocationType: 'Event' });
  const started = () => logs.filter((text) => text === 'started').length;
  await until('both invocations', () => started() === 2);
  await stack.stop();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(started()).toBe(2);
  expect(logs.join()).not.toContain('dropped');
});
