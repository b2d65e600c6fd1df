import { Concurrency } from '../../../local/lambda/concurrency.ts';

const { signal } = new AbortController();

/** An execution that a test ends. */
function execution() {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { execute: () => ended, end };
}

test('the functions share the limit of the account', async () => {
  const concurrency = new Concurrency([], 2);
  const [one, other] = [execution(), execution()];
  const running = [concurrency.run('A', one.execute), concurrency.run('B', other.execute)];
  expect(concurrency.throttled('C')).toBe('ConcurrentInvocationLimitExceeded');
  one.end();
  await running[0];
  expect(concurrency.throttled('C')).toBeUndefined();
  other.end();
});

test('the limit of an account is 1,000 unless another is given', () => {
  const concurrency = new Concurrency([]);
  for (let count = 0; count < 999; count += 1) {
    void concurrency.run('A', () => new Promise(() => {}));
  }
  expect(concurrency.throttled('A')).toBeUndefined();
  void concurrency.run('A', () => new Promise(() => {}));
  expect(concurrency.throttled('A')).toBe('ConcurrentInvocationLimitExceeded');
});

test('an execution that fails is no longer counted', async () => {
  const concurrency = new Concurrency([], 1);
  await expect(concurrency.run('A', () => Promise.reject(new Error('failed')))).rejects.toThrow();
  expect(concurrency.throttled('A')).toBeUndefined();
});

test('reserved concurrency is taken from the account, and is the function’s limit', () => {
  const concurrency = new Concurrency([{ name: 'A', reservedConcurrency: 1 }], 2);
  void concurrency.run('B', () => new Promise(() => {}));
  expect(concurrency.throttled('C')).toBe('ConcurrentInvocationLimitExceeded');
  expect(concurrency.throttled('A')).toBeUndefined();
  void concurrency.run('A', () => new Promise(() => {}));
  expect(concurrency.throttled('A')).toBe('ReservedFunctionConcurrentInvocationLimitExceeded');
});

test('executions that wait start in their order, each when another has ended', async () => {
  const concurrency = new Concurrency([], 1);
  const started: string[] = [];
  const wait = (name: string, { execute }: ReturnType<typeof execution>) =>
    concurrency.runWhenAllowed(
      name,
      () => {
        started.push(name);
        return execute();
      },
      signal,
    );
  const executions = [execution(), execution(), execution()];
  const results = executions.map((one, index) => wait('ABC'[index]!, one));
  expect(started).toEqual(['A']);
  executions[0]!.end();
  await results[0];
  expect(started).toEqual(['A', 'B']);
  expect(concurrency.throttled('D')).toBe('ConcurrentInvocationLimitExceeded');
  executions[1]!.end();
  executions[2]!.end();
  await Promise.all(results);
  expect(started).toEqual(['A', 'B', 'C']);
});

test('an execution that waits for its own limit holds up no other function', async () => {
  const concurrency = new Concurrency([{ name: 'A', reservedConcurrency: 0 }], 1);
  const first = execution();
  const running = concurrency.run('B', first.execute);
  void concurrency.runWhenAllowed('A', async () => 'A ran', signal);
  const other = concurrency.runWhenAllowed('B', async () => 'B ran', signal);
  first.end();
  await running;
  expect(await other).toBe('B ran');
});

test('a wait can be ended', async () => {
  const stop = new AbortController();
  const concurrency = new Concurrency([], 1);
  const first = execution();
  const running = concurrency.run('A', first.execute);
  let ran = false;
  const execute = async () => {
    ran = true;
  };
  const waiting = concurrency.runWhenAllowed('A', execute, stop.signal);
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  first.end();
  await running;
  expect(ran).toBe(false);
});
