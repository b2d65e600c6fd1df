import { firstSeed, testHalf } from './small-simulations.ts';
import { traceOf } from './trace.ts';

testHalf(0);

test('a run depends on its seed only', async () => {
  expect(await traceOf(firstSeed)).toBe(await traceOf(firstSeed));
  expect(await traceOf(firstSeed)).not.toBe(await traceOf(firstSeed + 1));
});
