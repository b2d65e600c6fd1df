import { type Mutation, mutated, problemsOf, testsOf } from './mutation.ts';
import { mutations } from './mutations.ts';

const one: Mutation = {
  file: 'lambdas/push/pushing/pace.ts',
  description: 'the pace starts later',
  from: 'this.#nextAt = now;',
  to: 'this.#nextAt = now + 1;',
};

test('every mutation of the list applies to the code', () => {
  expect(problemsOf(mutations)).toEqual([]);
});

test('a mutation changes one place', () => {
  expect(mutated('a b c', { ...one, from: 'b', to: '$&' })).toBe('a $& c');
});

test.each([
  ['whose text does not occur', [{ ...one, from: 'no such text' }]],
  ['whose text occurs twice', [{ ...one, from: 'now' }]],
  ['that is no code', [{ ...one, to: 'this.#nextAt = this.#none;' }]],
  ['that changes nothing', [{ ...one, to: one.from }]],
  ['that is there twice', [one, one]],
  ['of a missing test', [{ ...one, tests: ['test/lambdas/push/pushing/none.test.ts'] }]],
  ['of a test that runs bundles', [{ ...one, tests: ['test/service'] }]],
])('a mutation %s is a problem', (_, list) => {
  expect(problemsOf([one])).toEqual([]);
  expect(problemsOf(list)).toHaveLength(1);
});

test('the tests of the file run before those of its folder', () => {
  expect(testsOf(one)).toEqual([
    'test/lambdas/push/pushing/pace.test.ts',
    'test/lambdas/push/pushing',
  ]);
  expect(testsOf({ ...one, file: 'lambdas/push/pushing/push.ts' })).toEqual([
    'test/lambdas/push/pushing',
  ]);
  expect(testsOf({ ...one, tests: ['test/simulation'] })).toEqual([
    'test/simulation',
    'test/lambdas/push/pushing',
  ]);
});
