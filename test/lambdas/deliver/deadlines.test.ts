import { ServiceError } from '../../../contract/wire/errors.ts';
import { SteadyClock, whileTimeIsLeft } from '../../../lambdas/deliver/deadlines.ts';
import { Scheduler } from '../../simulation/time/scheduler.ts';
import { throttled } from './delivery-setup.ts';

describe('a call that is repeated while time is left', () => {
  /** A call that fails so often. */
  function repeated(deadline: number, failures: number, error: Error = throttled) {
    const time = new Scheduler();
    const triedAt: number[] = [];
    const { clock, sleep, abortAfter } = time;
    const result = whileTimeIsLeft(
      { clock, sleep, abortAfter, random: () => 1 },
      deadline,
      async (signal) => {
        expect(signal.aborted).toBe(false);
        triedAt.push(time.now);
        if (triedAt.length <= failures) throw error;
        return 'done';
      },
    );
    return { result: time.until(result), triedAt };
  }

  test('returns what it returns at last, after growing pauses', async () => {
    const { result, triedAt } = repeated(60_000, 6);
    expect(await result).toBe('done');
    expect(triedAt).toEqual([0, 200, 600, 1400, 3000, 5000, 7000]);
  });

  test('is tried until shortly before the deadline, and fails with the last error', async () => {
    const { result, triedAt } = repeated(4000, Number.POSITIVE_INFINITY);
    await expect(result).rejects.toBe(throttled);
    expect(triedAt.at(-1)).toBeGreaterThan(3750);
    expect(triedAt.length).toBeLessThan(12);
  });

  test.each([new TypeError('A fault of the code.'), new ServiceError('unauthorized', 'Refused.')])(
    'is not repeated after %s',
    async (error) => {
      const { result, triedAt } = repeated(60_000, 1, error);
      await expect(result).rejects.toBe(error);
      expect(triedAt).toEqual([0]);
    },
  );

  test('without an end is given up after 2 s, and made again', async () => {
    const time = new Scheduler();
    const { clock, sleep, abortAfter } = time;
    let tries = 0;
    const result = whileTimeIsLeft({ clock, sleep, abortAfter, random: () => 1 }, 60_000, () => {
      tries += 1;
      // It does not even listen to its signal.
      return tries < 3 ? new Promise<string>(() => {}) : Promise.resolve('done');
    });
    expect(await time.until(result)).toBe('done');
    expect(time.now).toBe(2000 + 200 + 2000 + 400);
  });

  test('is aborted at the deadline', async () => {
    const time = new Scheduler();
    const { clock, sleep, abortAfter } = time;
    const result = whileTimeIsLeft(
      { clock, sleep, abortAfter, random: () => 1 },
      5000,
      (signal) =>
        new Promise<never>((_, reject) => {
          signal.addEventListener('abort', () => reject(throttled));
        }),
    );
    await expect(time.until(result)).rejects.toMatchObject({ code: 'unavailable' });
    expect(time.now).toBe(5000);
  });
});

describe('the time of an invocation', () => {
  test('is that of the wall clock at its start, and does not follow it when it is set', () => {
    let [wall, ticks] = [1_000_000, 500];
    const clock = new SteadyClock(
      () => wall,
      () => ticks,
    );
    ticks += 2000;
    wall += 2000 - 45_000;
    expect(clock.now().getTime()).toBe(1_002_000);
    wall += 100_000;
    expect(clock.now().getTime()).toBe(1_002_000);
  });

  test('begins again with the next one: the environment may have been frozen', () => {
    let wall = 1_000_000;
    const clock = new SteadyClock(
      () => wall,
      () => 500,
    );
    wall += 3_600_000;
    clock.start();
    expect(clock.now().getTime()).toBe(4_600_000);
  });
});
