import { type LaneBounds, Lanes } from '../../../../lambdas/push/delivery/lanes.ts';

/** Lanes with a manual clock. Jobs run until {@link end} is called. */
function lanes(bounds: LaneBounds) {
  const running: { lane: string; end: (succeeded: boolean) => void }[] = [];
  const state = { nowMs: 0, succeeds: true };
  const tested = new Lanes<string>(bounds, {
    prepare: () => {},
    run: (lane) =>
      new Promise((resolve) => {
        running.push({ lane, end: resolve });
      }),
    now: () => state.nowMs,
  });
  const runningIn = (lane: string) => running.filter((job) => job.lane === lane).length;
  return {
    state,
    runningIn,
    isAnyWaitingBesides: (lane: string) => tested.isAnyWaitingBesides(lane),
    enqueue(lane: string, jobs: number) {
      for (let job = 0; job < jobs; job += 1) tested.enqueue(lane, lane);
    },
    /** Ends the oldest jobs of a lane, with success if `state.succeeds`. */
    async end(lane: string, jobs: number) {
      for (let job = 0; job < jobs; job += 1) {
        const oldest = running.findIndex((one) => one.lane === lane);
        running.splice(oldest, 1)[0]!.end(state.succeeds);
        await Promise.resolve();
      }
    },
  };
}

test('the limit of a lane grows by one with each fast job, up to the maximum', async () => {
  const all = lanes({ overall: 100, perLane: 10, atFirst: 4, atLeast: 2 });
  all.enqueue('a', 50);
  expect(all.runningIn('a')).toBe(4);
  await all.end('a', 3);
  expect(all.runningIn('a')).toBe(7);
  await all.end('a', 20);
  expect(all.runningIn('a')).toBe(10);
});

test('slow jobs reduce the limit of a lane to its initial value', async () => {
  const all = lanes({ overall: 16, perLane: 12, atFirst: 4, atLeast: 2 });
  all.enqueue('slow', 100);
  await all.end('slow', 8);
  expect(all.runningIn('slow')).toBe(12);
  all.state.nowMs = 1000;
  all.enqueue('other', 100);
  for (let job = 0; job < 12; job += 1) {
    await all.end('slow', 1);
    await all.end('other', 1);
  }
  expect(all.runningIn('slow')).toBe(4);
  expect(all.runningIn('other')).toBe(12);
});

test('failed jobs reduce the limit of a lane to its minimum, even if they are fast', async () => {
  const all = lanes({ overall: 16, perLane: 12, atFirst: 4, atLeast: 2 });
  all.enqueue('failing', 100);
  await all.end('failing', 8);
  expect(all.runningIn('failing')).toBe(12);
  all.enqueue('other', 100);
  for (let job = 0; job < 12; job += 1) {
    all.state.succeeds = false;
    await all.end('failing', 1);
    all.state.succeeds = true;
    await all.end('other', 1);
  }
  expect(all.runningIn('failing')).toBe(2);
  expect(all.runningIn('other')).toBe(12);
});

test('the limit of a slow lane grows while at most half of all jobs run', async () => {
  const all = lanes({ overall: 40, perLane: 30, atFirst: 4, atLeast: 2 });
  all.enqueue('slow', 200);
  for (let round = 1; round <= 100; round += 1) {
    all.state.nowMs = round * 1000;
    await all.end('slow', 1);
  }
  expect(all.runningIn('slow')).toBe(20);
});

test('the next job is taken from the lane with the fewest running jobs', async () => {
  const all = lanes({ overall: 10, perLane: 10, atFirst: 10, atLeast: 2 });
  all.enqueue('first', 20);
  all.enqueue('second', 20);
  expect([all.runningIn('first'), all.runningIn('second')]).toEqual([10, 0]);
  await all.end('first', 8);
  expect([all.runningIn('first'), all.runningIn('second')]).toEqual([5, 5]);
});

test('isAnyWaitingBesides returns whether another lane has waiting jobs', () => {
  const all = lanes({ overall: 10, perLane: 2, atFirst: 2, atLeast: 2 });
  all.enqueue('full', 3);
  all.enqueue('free', 1);
  expect(all.isAnyWaitingBesides('full')).toBe(false);
  expect(all.isAnyWaitingBesides('free')).toBe(true);
});
