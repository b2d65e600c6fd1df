import { type FunctionLog, FunctionPool, type FunctionPoolOptions } from '../function-pool.ts';
import type { FunctionDefinition } from '../functions.ts';
import { useFolder } from './fixtures.ts';

const folder = useFolder();
let pool: FunctionPool;
let logs: FunctionLog[];

beforeEach(() => {
  logs = [];
});
afterEach(() => pool.stop());

/** A pool of a function with this source, which exports `handler`. */
function poolOf(
  source: string,
  settings: Partial<FunctionDefinition> = {},
  options: FunctionPoolOptions = {},
): FunctionPool {
  folder.write('index.mjs', source);
  pool = new FunctionPool(
    {
      logicalId: 'Test',
      name: 'Test',
      arn: 'arn:aws:lambda:us-east-1:000000000000:function:Test',
      assetPath: folder.path,
      handler: 'index.handler',
      environment: {},
      timeoutMs: 20_000,
      memoryMb: 128,
      asynchronous: { retries: 2, maximumAgeMs: 3_600_000 },
      ...settings,
    },
    { onLog: (line) => logs.push(line), ...options },
  );
  return pool;
}

async function invoke(event: unknown = {}, requestId = 'request-1'): Promise<unknown> {
  return JSON.parse(await pool.invoke(JSON.stringify(event), requestId));
}

/** Lambda's report of an invocation that failed. */
function failed(requestId: string, outcome: { status: string; errorType?: string }) {
  return { type: 'platform.report', record: { requestId, ...outcome } };
}

test('a function has only its own environment variables', async () => {
  const environment = { TABLE: 'Projects', AWS_REGION: 'us-east-1' };
  poolOf('export const handler = async () => process.env;', { environment });
  // Lambda sets the last one for each invocation.
  expect(await invoke()).toEqual({ ...environment, _X_AMZN_TRACE_ID: expect.any(String) });
});

test('a function gets Lambda’s context', async () => {
  poolOf(
    `export const handler = async (_event, context) =>
      ({ ...context, remaining: context.getRemainingTimeInMillis() });`,
    { timeoutMs: 9000, memoryMb: 256 },
  );
  const context = (await invoke({}, 'request-7')) as { remaining: number };
  expect(context).toMatchObject({
    awsRequestId: 'request-7',
    functionName: 'Test',
    functionVersion: '$LATEST',
    invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:Test',
    memoryLimitInMB: '256',
  });
  expect(context.remaining).toBeGreaterThan(0);
  expect(context.remaining).toBeLessThanOrEqual(9000);
});

test('a frozen function sees that time has passed, and has all its time left', async () => {
  let frozenMs = 0;
  poolOf(
    `export const handler = async (_event, context) => ({
      times: [Date.now(), new Date().getTime(), Date.parse(new Date().toISOString())],
      given: new Date(5).getTime(),
      isDate: new Date() instanceof Date,
      remaining: context.getRemainingTimeInMillis(),
    });`,
    { timeoutMs: 9000 },
    { frozenMs: () => frozenMs },
  );
  await invoke();
  frozenMs = 3_600_000;
  const earliest = Date.now() + frozenMs;
  const { times, given, isDate, remaining } = (await invoke()) as {
    times: number[];
    given: number;
    isDate: boolean;
    remaining: number;
  };
  const latest = Date.now() + frozenMs;
  for (const time of times) {
    expect(time).toBeGreaterThanOrEqual(earliest);
    expect(time).toBeLessThanOrEqual(latest);
  }
  expect({ given, isDate }).toEqual({ given: 5, isDate: true });
  expect(remaining).toBeLessThanOrEqual(9000);
  expect(remaining).toBeGreaterThan(8000 - (latest - earliest));
});

test('instances are reused and created on demand up to the maximum', async () => {
  poolOf(
    `let served = 0;
     export const handler = async () => ++served;`,
    {},
    { size: 3 },
  );
  expect(pool.instances).toBe(0);
  await invoke();
  expect(await invoke()).toBe(2);
  expect(pool.instances).toBe(1);
  await Promise.all(Array.from({ length: 12 }, () => invoke()));
  expect(pool.instances).toBe(3);
});

test('a thrown error fails the request, is logged and keeps the instance', async () => {
  poolOf(`let served = 0;
    export const handler = async (event) => {
      served += 1;
      if (event.fail) throw new RangeError('too far');
      return served;
    };`);
  await expect(invoke({ fail: true })).rejects.toMatchObject({
    name: 'FunctionError',
    errorType: 'RangeError',
    message: 'too far',
  });
  const [thrown, report] = logs.map(({ text }) => JSON.parse(text));
  expect(thrown).toMatchObject({
    level: 'ERROR',
    requestId: 'request-1',
    message: {
      errorType: 'RangeError',
      errorMessage: 'too far',
      stackTrace: expect.arrayContaining([
        'RangeError: too far',
        expect.stringMatching(/^ {4}at handler/),
      ]),
    },
  });
  expect(report).toMatchObject(failed('request-1', { status: 'error', errorType: 'RangeError' }));
  expect(await invoke()).toBe(2);
});

test.each([
  [
    'an uncaught exception',
    'setImmediate(() => { throw new Error("boom"); });',
    'Runtime.UnhandledError',
  ],
  ['process.exit', 'process.exit(3);', 'Runtime.ExitError'],
  [
    'running out of memory',
    'const all = []; for (;;) all.push(new Array(1e5).fill({}));',
    'Runtime.UnhandledError',
  ],
  ['a timeout', '', 'Sandbox.Timedout'],
  ['a timeout without a pause', 'for (;;);', 'Sandbox.Timedout'],
])('%s ends the instance, and the next request gets a new one', async (_, statement, errorType) => {
  poolOf(
    `let served = 0;
     export const handler = async (event) => {
       served += 1;
       if (!event.fail) return served;
       ${statement}
       await new Promise(() => {});
     };`,
    { memoryMb: 32, ...(errorType === 'Sandbox.Timedout' && { timeoutMs: 300 }) },
  );
  expect(await invoke()).toBe(1);
  await expect(invoke({ fail: true }, 'failing')).rejects.toMatchObject({ errorType });
  const report = logs.map(({ text }) => JSON.parse(text)).at(-1);
  const outcome =
    errorType === 'Sandbox.Timedout' ? { status: 'timeout' } : { status: 'error', errorType };
  expect(report).toMatchObject(failed('failing', outcome));
  expect(await invoke()).toBe(1);
  expect(pool.instances).toBe(1);
});

test('a bundle that fails to load fails the request and logs the reason', async () => {
  poolOf('throw new Error("The function’s environment is incomplete.");');
  await expect(invoke()).rejects.toMatchObject({ errorType: 'Runtime.UnhandledError' });
  expect(JSON.parse(logs[0]!.text)).toMatchObject({
    level: 'ERROR',
    message: { errorMessage: 'The function’s environment is incomplete.' },
  });
});

test('a bundle without the handler’s file is refused by the constructor', () => {
  poolOf('');
  expect(() => poolOf('', { handler: 'missing.handler' })).toThrow(
    'The bundle of "Test" has no file "missing".',
  );
});

test('stop() fails current and waiting requests', async () => {
  poolOf('export const handler = () => new Promise(() => {});', {}, { size: 1 });
  const requests = [invoke(), invoke()];
  const outcomes = Promise.allSettled(requests);
  await pool.stop();
  for (const outcome of await outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { errorType: 'Runtime.Stopped' } });
  }
  await expect(invoke()).rejects.toMatchObject({ errorType: 'Runtime.Stopped' });
});
