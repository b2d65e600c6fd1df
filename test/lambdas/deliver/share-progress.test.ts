import { setImmediate } from 'node:timers/promises';
import { noCounts } from '../../../contract/counts.ts';
import { ShareProgress } from '../../../lambdas/deliver/share-progress.ts';
import type { TallyStore } from '../../../lambdas/store/tallies.ts';
import { invocation, share, startMs } from './recorded-share-dependencies.ts';

const { signal } = new AbortController();

function progressWith(save: TallyStore['save']): ShareProgress {
  const deps = { tallies: { save }, clock: () => new Date(startMs), soFar: () => noCounts };
  return new ShareProgress(deps, share(), invocation);
}

test('writes of a share run one after another: the later one would overtake the other', async () => {
  const writing: number[] = [];
  const progress = progressWith(async (_, { step }) => {
    writing.push(step);
    await setImmediate();
    expect(writing.at(-1)).toBe(step);
    return undefined;
  });
  await Promise.all([progress.save(signal), progress.save(signal), progress.save(signal)]);
  expect(writing).toEqual([1, 2, 3]);
});

test('a write that fails does not prevent the next one', async () => {
  const steps: number[] = [];
  const progress = progressWith(async (_, { step }) => {
    steps.push(step);
    if (step === 1) throw new Error('throttled');
    return undefined;
  });
  await expect(progress.save(signal)).rejects.toThrow('throttled');
  await progress.save(signal);
  expect(steps).toEqual([1, 2]);
  expect(progress.hasClaim).toBe(true);
});

test('pushes may start for 4.5 s from the start of a write that succeeds', async () => {
  let now = startMs;
  const save: TallyStore['save'] = async () => {
    now += 3000;
    return undefined;
  };
  const deps = { tallies: { save }, clock: () => new Date(now), soFar: () => noCounts };
  const progress = new ShareProgress(deps, share(), invocation);
  expect(progress.times.pausesAt).toBeLessThan(startMs);
  await progress.save(signal);
  expect(progress.times.pausesAt).toBe(startMs + 4500);
});
