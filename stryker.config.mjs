/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  mutate: ['lambdas/{send,deliver,results,push,store}/**/*.ts'],
  testRunner: 'jest',
  coverageAnalysis: 'perTest',
  jest: {
    configFile: 'jest.config.mjs',
    config: {
      // The tests that import the code: the others run bundles, which have no faults.
      roots: ['<rootDir>/test/lambdas', '<rootDir>/test/simulation'],
      testPathIgnorePatterns: ['invariants.test.ts', 'memory-database.test.ts'],
    },
  },
  reporters: ['clear-text', 'progress'],
  clearTextReporter: { reportTests: false },
  ignorePatterns: ['.carillon', 'cdk.out'],
  tempDirName: '.carillon/mutations',
};
