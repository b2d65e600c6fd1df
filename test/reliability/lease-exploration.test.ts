import { refusal } from '../../lambdas/store/slices.ts';
import { explore } from '../simulation/lease-model.ts';
import { exploreRuns, useShortTimes } from '../simulation/lease-runs.ts';

jest.mock('../../lambdas/push/crypto/encryption.ts', () => ({
  encryption: () => () => Buffer.alloc(0),
  topicHeader: () => () => '',
}));

test('whatever three invocations do: nobody is pushed to twice, no claim is lost, an end is in reach', () => {
  const { states, fault } = explore(refusal, {
    ...{ writers: 3, chunks: 3, lateCalls: 2, isAwaited: true },
  });
  process.stderr.write(`${states} states\n`);
  expect(fault).toBeUndefined();
});

test('whatever becomes of two writes of a slice: nobody is pushed to twice, everyone is counted once, an end is reached', async () => {
  useShortTimes();
  const startedAt = performance.now();
  const { runs, writes, fault } = await exploreRuns(2);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  process.stderr.write(`${runs} runs with ${writes} writes, in ${seconds} s\n`);
  expect(fault).toBeUndefined();
});
