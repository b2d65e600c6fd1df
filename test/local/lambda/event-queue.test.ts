import { Concurrency } from '../../../local/lambda/concurrency.ts';
import { EventQueue, type EventQueueOptions } from '../../../local/lambda/event-queue.ts';
import { FunctionError, type FunctionLog } from '../../../local/lambda/function-instance.ts';
import { until } from '../../fixtures/until.ts';

const deliver = { name: 'Deliver', asynchronous: { retries: 2, maximumAgeMs: 60_000 } };

let queue: EventQueue;
let invocations: string[];
let logs: FunctionLog[];

beforeEach(() => {
  invocations = [];
  logs = [];
});
afterEach(() => queue.stop());

/** A queue before a function whose first executions fail. */
function start(failures: number, options: Partial<EventQueueOptions> = {}): void {
  queue = new EventQueue({
    invoke: async (name, event, requestId) => {
      invocations.push(`${name} ${event} ${requestId}`);
      if (invocations.length <= failures) throw new FunctionError('Error', 'failed');
      return 'null';
    },
    concurrency: new Concurrency([]),
    retryDelaysMs: [1, 2],
    onLog: (line) => logs.push(line),
    ...options,
  });
}

const dropped = () => until('the invocation to be dropped', () => logs[0]);
const invoked = (times: number) =>
  until(`${times} attempts`, () => invocations.length >= times || undefined);
/** Long enough for an attempt that should not come. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

test('an invocation that succeeds runs once', async () => {
  start(0);
  queue.add(deliver, '{"slice":1}', 'request-1');
  await pause();
  expect(invocations).toEqual(['Deliver {"slice":1} request-1']);
  expect(logs).toEqual([]);
});

test('one that fails is retried with the same event and request id', async () => {
  start(2);
  queue.add(deliver, '{}', 'request-1');
  await invoked(3);
  await pause();
  expect(invocations).toEqual(Array(3).fill('Deliver {} request-1'));
  expect(logs).toEqual([]);
});

test('after the last retry it is dropped, and the log says so', async () => {
  start(Number.POSITIVE_INFINITY);
  queue.add(deliver, '{}', 'request-1');
  expect(await dropped()).toEqual({
    function: 'Deliver',
    text: 'request-1 Asynchronous invocation dropped: failed 3 times',
  });
  await pause();
  expect(invocations).toHaveLength(3);
});

test('the function’s settings say how many retries there are', async () => {
  start(Number.POSITIVE_INFINITY);
  queue.add({ name: 'Deliver', asynchronous: { retries: 0, maximumAgeMs: 60_000 } }, '{}', 'one');
  await dropped();
  expect(invocations).toHaveLength(1);
});

test('the retries come after the delays that are given', async () => {
  const times: number[] = [];
  start(0, {
    retryDelaysMs: [100, 200],
    invoke: async () => {
      times.push(performance.now());
      throw new FunctionError('Error', 'failed');
    },
  });
  queue.add(deliver, '{}', 'request-1');
  await dropped();
  const [first, second, third] = times as [number, number, number];
  expect(second - first).toBeGreaterThan(99);
  expect(third - second).toBeGreaterThan(199);
});

test('an invocation that has become too old is dropped', async () => {
  let nowMs = 0;
  start(0, {
    nowMs: () => nowMs,
    invoke: async () => {
      nowMs += 40_000;
      throw new FunctionError('Error', 'failed');
    },
  });
  queue.add(deliver, '{}', 'request-1');
  expect((await dropped()).text).toBe('request-1 Asynchronous invocation dropped: too old');
  expect(nowMs).toBe(80_000);
});

test('a throttled invocation waits, and its wait is no attempt', async () => {
  const concurrency = new Concurrency([], 1);
  let end = () => {};
  const running = concurrency.run('Send', () => new Promise<void>((resolve) => (end = resolve)));
  start(2, { concurrency });
  for (const requestId of ['a', 'b']) queue.add(deliver, '{}', requestId);
  await pause();
  expect(invocations).toEqual([]);
  end();
  await running;
  await invoked(4);
  await pause();
  expect(invocations.filter((text) => text.endsWith(' a'))).toHaveLength(2);
  expect(invocations.filter((text) => text.endsWith(' b'))).toHaveLength(2);
});

test('once stopped, the queue retries nothing', async () => {
  start(Number.POSITIVE_INFINITY, { retryDelaysMs: [20, 20] });
  queue.add(deliver, '{}', 'request-1');
  // The first attempt has failed by then, and the wait for the second has begun.
  await new Promise(setImmediate);
  queue.stop();
  await pause();
  expect(invocations).toHaveLength(1);
  expect(logs).toEqual([]);
});

test.each([0, 2])(
  'an attempt that fails because all functions stop is neither retried nor dropped, with %d retries',
  async (retries) => {
    let fail = () => {};
    start(0, {
      invoke: () => {
        invocations.push('started');
        return new Promise((_, reject) => {
          fail = () => reject(new FunctionError('Runtime.Stopped', 'The function was stopped.'));
        });
      },
    });
    queue.add({ name: 'Deliver', asynchronous: { retries, maximumAgeMs: 60_000 } }, '{}', 'one');
    await invoked(1);
    queue.stop();
    fail();
    await pause();
    expect(invocations).toEqual(['started']);
    expect(logs).toEqual([]);
  },
);
