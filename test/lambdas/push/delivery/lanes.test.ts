import { type LaneBounds, Lanes } from '../../../../lambdas/push/delivery/lanes.ts';

/** Lanes whose jobs end when they are told to, on a clock that is set by hand. */
function lanes(bounds: LaneBounds) {
  const running: { lane: string; end: (wentWell: boolean) => void }[] = [];
  const state = { now: 0, wentWell: true };
  const under = new Lanes<string>(bounds, {
    prepare: () => {},
    run: (lane) =>
      new Promise((resolve) => {
        running.push({ lane, end: resolve });
      }),
    now: () => state.now,
  });
  const runningIn = (lane: string) => running.filter((job) => job.lane === lane).length;
  return {
    state,
    runningIn,
    isAnyWaitingBesides: (lane: string) => under.isAnyWaitingBesides(lane),
    enqueue(lane: string, jobs: number) {
      for (let job = 0; job < jobs; job += 1) under.enqueue(lane, lane);
    },
    /** Ends so many jobs of a lane, the oldest first, as well as the state says. */
    async end(lane: string, jobs: number) {
      for (let job = 0; job < jobs; job += 1) {
        const oldest = running.findIndex((one) => one.lane === lane);
        running.splice(oldest, 1)[0]!.end(state.wentWell);
        await Promise.resolve();
      }
    },
  };
}

test('a lane begins with few jobs and wins room for one more with each prompt one, up to its bound', async () => {
  const all = lanes({ overall: 100, perLane: 10, atFirst: 4, atLeast: 2 });
  all.enqueue('a', 50);
  expect(all.runningIn('a')).toBe(4);
  await all.end('a', 3);
  expect(all.runningIn('a')).toBe(7);
  await all.end('a', 20);
  expect(all.runningIn('a')).toBe(10);
});

test('a lane whose jobs take long loses the room it has won, and keeps what it began with', async () => {
  const all = lanes({ overall: 16, perLane: 12, atFirst: 4, atLeast: 2 });
  all.enqueue('slow', 100);
  await all.end('slow', 8);
  expect(all.runningIn('slow')).toBe(12);
  all.state.now = 1000;
  all.enqueue('other', 100);
  for (let job = 0; job < 12; job += 1) {
    await all.end('slow', 1);
    await all.end('other', 1);
  }
  expect(all.runningIn('slow')).toBe(4);
  expect(all.runningIn('other')).toBe(12);
});

test('a lane whose jobs go badly loses room, however prompt they are', async () => {
  const all = lanes({ overall: 16, perLane: 12, atFirst: 4, atLeast: 2 });
  all.enqueue('bad', 100);
  await all.end('bad', 8);
  expect(all.runningIn('bad')).toBe(12);
  all.enqueue('other', 100);
  for (let job = 0; job < 12; job += 1) {
    all.state.wentWell = false;
    await all.end('bad', 1);
    all.state.wentWell = true;
    await all.end('other', 1);
  }
  expect(all.runningIn('bad')).toBe(2);
  expect(all.runningIn('other')).toBe(12);
});

test('a lane whose jobs take long grows where half of all is free', async () => {
  const all = lanes({ overall: 40, perLane: 30, atFirst: 4, atLeast: 2 });
  all.enqueue('slow', 200);
  for (let round = 1; round <= 100; round += 1) {
    all.state.now = round * 1000;
    await all.end('slow', 1);
  }
  expect(all.runningIn('slow')).toBe(20);
});

test('what is free goes to the lane with the fewest jobs running', async () => {
  const all = lanes({ overall: 10, perLane: 10, atFirst: 10, atLeast: 2 });
  all.enqueue('first', 20);
  all.enqueue('second', 20);
  expect([all.runningIn('first'), all.runningIn('second')]).toEqual([10, 0]);
  await all.end('first', 8);
  expect([all.runningIn('first'), all.runningIn('second')]).toEqual([5, 5]);
});

test('tells whether another lane has jobs that wait for room', () => {
  const all = lanes({ overall: 10, perLane: 2, atFirst: 2, atLeast: 2 });
  all.enqueue('full', 3);
  all.enqueue('free', 1);
  expect(all.isAnyWaitingBesides('full')).toBe(false);
  expect(all.isAnyWaitingBesides('free')).toBe(true);
});
