import {
  GetAccountSettingsCommand,
  GetFunctionConfigurationCommand,
  InvokeCommand,
  type InvokeCommandInput,
  LambdaClient,
} from '@aws-sdk/client-lambda';
import type { AwsService } from '../../../local/aws-service.ts';
import { startLambdaApi } from '../../../local/lambda/api.ts';
import { Concurrency } from '../../../local/lambda/concurrency.ts';
import { FunctionPool } from '../../../local/lambda/function-pool.ts';
import type { FunctionDefinition } from '../../../local/template/functions.ts';
import { type Folder, temporaryFolder } from '../../fixtures/folder.ts';
import { until } from '../../fixtures/until.ts';

const arn = (name: string) => `arn:aws:lambda:us-east-1:000000000000:function:${name}`;

let folder: Folder;
let pool: FunctionPool;
let api: AwsService;
const clients: LambdaClient[] = [];
let logs: string[];

beforeEach(() => {
  folder = temporaryFolder();
  logs = [];
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await api.stop();
  await pool.stop();
  folder.remove();
});

interface Settings extends Partial<FunctionDefinition> {
  readonly accountConcurrency?: number;
}

/** An API of one function, `Deliver`, with this source; `Send` may invoke it. */
async function start(source: string, { accountConcurrency, ...settings }: Settings = {}) {
  folder.write('index.mjs', source);
  const definition: FunctionDefinition = {
    logicalId: 'Deliver',
    name: 'Deliver',
    arn: arn('Deliver'),
    assetPath: folder.path,
    handler: 'index.handler',
    environment: {},
    timeoutMs: 20_000,
    memoryMb: 128,
    reservedConcurrency: undefined,
    asynchronous: { retries: 2, maximumAgeMs: 60_000 },
    ...settings,
  };
  const onLog = ({ text }: { text: string }) => logs.push(text);
  pool = new FunctionPool(definition, { onLog });
  api = await startLambdaApi({
    functions: [definition],
    environments: new Map([['Deliver', { NAME: 'value' }]]),
    grants: new Map([
      [
        'Send',
        ['Deliver', 'Removed'].map((name) => ({
          action: 'lambda:InvokeFunction',
          resource: arn(name),
        })),
      ],
    ]),
    invoke: (_, event, requestId) => pool.invoke(event, requestId),
    concurrency: new Concurrency([definition], accountConcurrency),
    retryDelaysMs: [1, 2],
    onLog,
  });
}

interface Call extends Partial<InvokeCommandInput> {
  readonly caller?: string;
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

/** Invokes as a function of the local stack does. */
async function invoke({ caller = 'Send', ...input }: Call = {}) {
  const { Payload, $metadata, ...output } = await client(caller).send(
    new InvokeCommand({ FunctionName: 'Deliver', ...input }),
  );
  const text = Payload?.transformToString() ?? '';
  return {
    ...output,
    requestId: $metadata.requestId,
    payload: text === '' ? undefined : JSON.parse(text),
  };
}

const event = { InvocationType: 'Event' } as const;
const logged = (text: string) => until(text, () => logs.find((line) => line.includes(text)));
/** Logs a line, then waits until the test ends. */
const hanging = `export const handler = () => {
  console.log('started');
  return new Promise(() => {});
};`;

test('an operator reads the quota of the account and the variables of a function', async () => {
  await start('export const handler = async () => {};', { accountConcurrency: 10 });
  const operator = client('operator');
  const { AccountLimit } = await operator.send(new GetAccountSettingsCommand({}));
  expect(AccountLimit).toEqual({ ConcurrentExecutions: 10 });
  const found = await operator.send(
    new GetFunctionConfigurationCommand({ FunctionName: 'Deliver' }),
  );
  expect(found).toMatchObject({ State: 'Active', Environment: { Variables: { NAME: 'value' } } });
  await expect(client('Send').send(new GetAccountSettingsCommand({}))).rejects.toThrow();
});

test('a synchronous invocation returns the result', async () => {
  await start('export const handler = async (event) => ({ twice: event.number * 2 });');
  expect(await invoke({ Payload: '{"number":21}' })).toEqual({
    StatusCode: 200,
    ExecutedVersion: '$LATEST',
    requestId: expect.any(String),
    payload: { twice: 42 },
  });
});

test('a function may be named by its ARN', async () => {
  await start('export const handler = async () => "ran";');
  expect((await invoke({ FunctionName: arn('Deliver') })).payload).toBe('ran');
});

test('a function gets the request id of the response, and the time that it has left', async () => {
  await start(
    `export const handler = async (_event, context) =>
      ({ requestId: context.awsRequestId, remaining: context.getRemainingTimeInMillis() });`,
    { timeoutMs: 9000 },
  );
  const { requestId, payload } = await invoke();
  expect(payload.requestId).toBe(requestId);
  expect(payload.remaining).toBeGreaterThan(0);
  expect(payload.remaining).toBeLessThanOrEqual(9000);
});

test('without a payload, a function gets an empty event', async () => {
  await start('export const handler = async (event) => event;');
  expect((await invoke()).payload).toEqual({});
});

test('an error of the function is a result with status 200', async () => {
  await start('export const handler = async () => { throw new RangeError("too far"); };');
  expect(await invoke()).toMatchObject({
    StatusCode: 200,
    FunctionError: 'Unhandled',
    payload: { errorMessage: 'too far', errorType: 'RangeError' },
  });
});

test('a function that is killed fails', async () => {
  await start(hanging);
  const invocation = invoke();
  await logged('started');
  await pool.kill();
  expect(await invocation).toMatchObject({
    StatusCode: 200,
    FunctionError: 'Unhandled',
    payload: { errorType: 'Runtime.Stopped' },
  });
});

test('an asynchronous invocation is accepted before the function has ended', async () => {
  await start(hanging);
  expect(await invoke(event)).toMatchObject({ StatusCode: 202, payload: undefined });
  await logged('started');
});

test('an asynchronous invocation that fails is retried under the same request id', async () => {
  await start(`export const handler = async (event, context) => {
    console.log(event.slice, context.awsRequestId);
    throw new Error('failed');
  };`);
  const { requestId } = await invoke({ ...event, Payload: '{"slice":7}' });
  await logged('dropped: failed 3 times');
  expect(logs.filter((line) => line === `7 ${requestId}`)).toHaveLength(3);
});

test('an asynchronous invocation whose function is killed is retried', async () => {
  await start(hanging);
  await invoke(event);
  await logged('started');
  await pool.kill();
  await until('a second start', () => logs.filter((line) => line === 'started').length === 2);
});

test('without concurrency, a synchronous invocation is refused', async () => {
  await start(hanging, { accountConcurrency: 1 });
  await invoke(event);
  await expect(invoke()).rejects.toMatchObject({
    name: 'TooManyRequestsException',
    Reason: 'ConcurrentInvocationLimitExceeded',
    retryAfterSeconds: '1',
    $metadata: { httpStatusCode: 429 },
  });
});

test('without concurrency, an asynchronous invocation waits', async () => {
  await start(
    `export const handler = (event) => {
      console.log(event.name);
      return new Promise((resolve) => setTimeout(resolve, event.ms));
    };`,
    { accountConcurrency: 1 },
  );
  const call = (name: string, ms: number) =>
    invoke({ ...event, Payload: JSON.stringify({ name, ms }) });
  await call('first', 300);
  await logged('first');
  expect(await call('second', 0)).toMatchObject({ StatusCode: 202 });
  expect(logs).toEqual(['first']);
  await logged('second');
});

test('the reserved concurrency of a function is its limit', async () => {
  await start(hanging, { reservedConcurrency: 0 });
  await expect(invoke()).rejects.toMatchObject({
    name: 'TooManyRequestsException',
    Reason: 'ReservedFunctionConcurrentInvocationLimitExceeded',
  });
});

test.each([
  ['RequestResponse', 6 * 1024 * 1024],
  ['Event', 1024 * 1024],
] as const)('the payload of %s has at most %d bytes', async (InvocationType, bytes) => {
  await start('export const handler = async () => {};');
  const payload = (length: number) => `"${'x'.repeat(length - 2)}"`;
  expect((await invoke({ InvocationType, Payload: payload(bytes) })).StatusCode).toBeLessThan(300);
  await expect(invoke({ InvocationType, Payload: payload(bytes + 1) })).rejects.toMatchObject({
    name: 'RequestTooLargeException',
    $metadata: { httpStatusCode: 413 },
  });
});

test.each<[mistake: string, call: Call, name: string, status: number]>([
  ['malformed JSON', { Payload: '{' }, 'InvalidRequestContentException', 400],
  ['a dry run', { InvocationType: 'DryRun' }, 'InvalidParameterValueException', 400],
  ['an unknown function', { FunctionName: 'Removed' }, 'ResourceNotFoundException', 404],
  ['a caller without the grant', { caller: 'Track' }, 'AccessDeniedException', 403],
  ['a function that is not granted', { FunctionName: 'Send' }, 'AccessDeniedException', 403],
  ['a version', { Qualifier: '1' }, 'UnknownOperationException', 404],
])('%s is refused', async (_, call, name, httpStatusCode) => {
  await start('export const handler = async () => {};');
  await expect(invoke(call)).rejects.toMatchObject({ name, $metadata: { httpStatusCode } });
});

test('a refusal of IAM names the action and the function', async () => {
  await start('export const handler = async () => {};');
  await expect(invoke({ caller: 'Track' })).rejects.toThrow(
    `Track is not authorized to perform: lambda:InvokeFunction on resource: ${arn('Deliver')}`,
  );
});

test('another operation of Lambda is not there', async () => {
  await start('export const handler = async () => {};');
  const response = await fetch(`${api.endpoint}/2015-03-31/functions`);
  expect(response.status).toBe(404);
  expect(response.headers.get('x-amzn-errortype')).toBe('UnknownOperationException');
});

test('once stopped, the API is closed and retries nothing', async () => {
  await start(hanging);
  await invoke(event);
  await logged('started');
  await api.stop();
  await api.stop();
  await pool.kill();
  await new Promise((resolve) => setTimeout(resolve, 50));
  // A retry would have started another one.
  expect(pool.instances).toBe(0);
  await expect(invoke()).rejects.toThrow('ECONNREFUSED');
});
