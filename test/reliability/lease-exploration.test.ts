import { refusal } from '../../lambdas/store/slices.ts';
import { explore } from '../simulation/lease-model.ts';

test('whatever three invocations do: nobody is pushed to twice, no claim is lost, an end is in reach', () => {
  const { states, fault } = explore(refusal, {
    ...{ writers: 3, chunks: 3, lateCalls: 2, isAwaited: true },
  });
  process.stderr.write(`${states} states\n`);
  expect(fault).toBeUndefined();
});
