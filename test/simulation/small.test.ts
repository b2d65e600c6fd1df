import { simulatedConditions } from './conditions.ts';
import { randomScenario } from './scenario.ts';
import { simulateSends } from './simulated-sends.ts';
import { traceOf } from './trace.ts';
import { World } from './world.ts';

/**
 * Few, and the same each time: test/reliability/simulated-sends.test.ts has many, and draws others. Tests of
 * mutations choose more.
 */
const runs = Number(process.env.RUNS ?? 150);

test('simulated sends keep all invariants', async () => {
  await simulateSends(1, runs);
}, 120_000);

test('a run depends on its seed only', async () => {
  expect(await traceOf(1)).toBe(await traceOf(1));
  expect(await traceOf(1)).not.toBe(await traceOf(2));
});

test('each dimension has random numbers of its own: one more condition changes nothing else', () => {
  const withoutConditions = () =>
    [1, 2, 3].map((seed) => {
      const { calls, ...others } = randomScenario(new World(seed, false));
      const titles = calls.map(({ request, ...call }) => ({ ...call, title: request.title }));
      return { ...others, titles };
    });
  const before = withoutConditions();
  Object.assign(simulatedConditions, { further: { some: () => 1, isMet: () => true } });
  expect(withoutConditions()).toEqual(before);
});
