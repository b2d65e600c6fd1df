import { commitSeed } from './commit-seed.ts';
import { simulatedConditions } from './conditions.ts';
import { randomScenario } from './scenario.ts';
import { simulateSends } from './simulated-sends.ts';
import { traceOf } from './trace.ts';
import { World } from './world.ts';

/** Few: test/reliability/simulated-sends.test.ts has thousands. Tests of mutations choose more. */
const runs = Number(process.env.RUNS ?? 75);

test.each([
  ['the same each time', 1],
  ['others with each commit', commitSeed() ?? runs + 1],
])(
  'simulated sends keep all invariants: %s',
  async (_, firstSeed) => {
    await simulateSends(firstSeed, runs);
  },
  120_000,
);

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
