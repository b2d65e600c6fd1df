import {
  GetAccountSettingsCommand,
  GetFunctionConfigurationCommand,
  InvokeCommand,
  type InvokeCommandInput,
  LambdaClient,
} from '@aws-sdk/client-lambda';
import { Executions, Throttled } from '../executions.ts';
import { FunctionError } from '../function-pool.ts';
import type { FunctionDefinition } from '../functions.ts';
import { startLambdaApi } from '../lambda-api.ts';
import type { AwsService } from '../loopback.ts';
import { until } from './fixtures.ts';

const arn = (name: string) => `arn:aws:lambda:us-east-1:000000000000:function:${name}`;

interface Settings extends Partial<FunctionDefinition> {
  readonly accountConcurrency?: number;
}

type Handler = (event: string, requestId: string) => Promise<string>;

let api: AwsService;
let executions: Executions;
let nowMs: () => number;
let logs: string[];
/** What the function was invoked with. */
let invocations: string[];
const clients: LambdaClient[] = [];

beforeEach(() => {
  logs = [];
  invocations = [];
  nowMs = () => performance.now();
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await api.stop();
});

const failing: Handler = () => Promise.reject(new FunctionError('RangeError', 'too far'));
const hanging: Handler = () => new Promise(() => {});

/** An API of one function, `Deliver`, which does this; `Send` may invoke it. */
async function start(handler: Handler, { accountConcurrency, ...settings }: Settings = {}) {
  const definition: FunctionDefinition = {
    logicalId: 'Deliver',
    name: 'Deliver',
    arn: arn('Deliver'),
    assetPath: '',
    handler: 'index.handler',
    environment: {},
    timeoutMs: 20_000,
    memoryMb: 128,
    asynchronous: { retries: 2, maximumAgeMs: 60_000 },
    ...settings,
  };
  executions = new Executions(
    (_, event, requestId) => {
      invocations.push(`${event} ${requestId}`);
      return handler(event, requestId);
    },
    undefined,
    accountConcurrency,
  );
  const action = 'lambda:InvokeFunction';
  api = await startLambdaApi({
    functions: [definition],
    environments: new Map([['Deliver', { NAME: 'value' }]]),
    grants: new Map([
      ['Send', ['Deliver', 'Removed'].map((name) => ({ action, resource: arn(name) }))],
    ]),
    executions,
    retryDelaysMs: [1, 2],
    nowMs: () => nowMs(),
    onLog: ({ text }) => logs.push(text),
  });
}

/** A client with the credentials of a caller, without the SDK's retries. */
function client(caller: string): LambdaClient {
  const created = new LambdaClient({
    endpoint: api.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: caller, secretAccessKey: 'local' },
    maxAttempts: 1,
  });
  clients.push(created);
  return created;
}

interface Call extends Partial<InvokeCommandInput> {
  readonly caller?: string;
}

/** Invokes as a function of the local stack does. */
async function invoke({ caller = 'Send', ...input }: Call = {}) {
  const { $metadata, StatusCode } = await client(caller).send(
    new InvokeCommand({ FunctionName: 'Deliver', ...input }),
  );
  return { StatusCode, requestId: $metadata.requestId };
}

const event = { InvocationType: 'Event', Payload: '{"slice":7}' } as const;
/** Waits for the log line about an invocation that was dropped. */
async function dropped() {
  await until(() => logs.length > 0);
  return logs[0];
}
const invoked = (times: number) => until(() => invocations.length === times);
/** Long enough for an attempt that should not come. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

test('an operator reads the quota of the account and the variables of a function; a function does not', async () => {
  await start(hanging, { accountConcurrency: 10 });
  const operator = client('operator');
  const { AccountLimit } = await operator.send(new GetAccountSettingsCommand({}));
  expect(AccountLimit).toEqual({ ConcurrentExecutions: 10 });
  const found = await operator.send(
    new GetFunctionConfigurationCommand({ FunctionName: 'Deliver' }),
  );
  expect(found).toMatchObject({ State: 'Active', Environment: { Variables: { NAME: 'value' } } });
  await expect(client('Send').send(new GetAccountSettingsCommand({}))).rejects.toThrow();
});

test('an asynchronous invocation is accepted, retried under its request id, and dropped', async () => {
  await start(failing);
  const { requestId, StatusCode } = await invoke(event);
  expect(StatusCode).toBe(202);
  expect(await dropped()).toBe(`${requestId} Asynchronous invocation dropped: failed 3 times`);
  await pause();
  expect(invocations).toEqual(Array(3).fill(`{"slice":7} ${requestId}`));
});

test('an asynchronous invocation that has become too old is dropped', async () => {
  let now = 0;
  nowMs = () => now;
  await start((...call) => {
    now += 40_000;
    return failing(...call);
  });
  await invoke(event);
  expect(await dropped()).toContain('dropped: too old');
  expect(invocations).toHaveLength(2);
});

test('beyond the account’s concurrency, a request is throttled and an asynchronous invocation waits', async () => {
  let end = (_result: string) => {};
  const running = new Promise<string>((resolve) => {
    end = resolve;
  });
  await start(() => running, { accountConcurrency: 1 });
  await invoke(event);
  await expect(executions.start('Deliver', '{}', 'request-1')).rejects.toThrow(Throttled);
  await invoke({ ...event, Payload: '"waits"' });
  await pause();
  expect(invocations).toHaveLength(1);
  end('null');
  await invoked(2);
});

test('a payload has at most 1 MB', async () => {
  await start(async () => 'null');
  const payload = (length: number) => `"${'x'.repeat(length - 2)}"`;
  const bytes = 1024 * 1024;
  expect((await invoke({ ...event, Payload: payload(bytes) })).StatusCode).toBe(202);
  await expect(invoke({ ...event, Payload: payload(bytes + 1) })).rejects.toMatchObject({
    name: 'RequestEntityTooLargeException',
    $metadata: { httpStatusCode: 413 },
  });
});

test.each<[mistake: string, call: Call, name: string, status: number]>([
  ['malformed JSON', { Payload: '{' }, 'InvalidRequestContentException', 400],
  [
    'a synchronous invocation',
    { InvocationType: 'RequestResponse' },
    'InvalidParameterValueException',
    400,
  ],
  ['a dry run', { InvocationType: 'DryRun' }, 'InvalidParameterValueException', 400],
  ['an unknown function', { FunctionName: 'Removed' }, 'ResourceNotFoundException', 404],
  ['a caller without the grant', { caller: 'Track' }, 'AccessDeniedException', 403],
  ['a function that is not granted', { FunctionName: 'Send' }, 'AccessDeniedException', 403],
  ['a version', { Qualifier: '1' }, 'UnknownOperationException', 404],
])('%s is refused', async (_, call, name, httpStatusCode) => {
  await start(hanging);
  await expect(invoke({ ...event, ...call })).rejects.toMatchObject({
    name,
    $metadata: { httpStatusCode },
  });
  expect(invocations).toEqual([]);
});

test('once stopped, the API is closed, and an attempt that fails is neither retried nor dropped', async () => {
  let fail = () => {};
  await start(
    () =>
      new Promise((_, reject) => {
        fail = () => reject(new FunctionError('Runtime.Stopped', 'The function was stopped.'));
      }),
  );
  await invoke(event);
  await api.stop();
  fail();
  await pause();
  expect(invocations).toHaveLength(1);
  expect(logs).toEqual([]);
  await expect(invoke(event)).rejects.toThrow('ECONNREFUSED');
});
