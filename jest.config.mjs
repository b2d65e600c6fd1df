/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  globalSetup: '<rootDir>/test/global-setup.ts',
  globalTeardown: '<rootDir>/test/global-teardown.ts',
  transform: {
    '^.+\\.(t|j|mj)s$': [
      '@swc/jest',
      { jsc: { target: 'es2023', parser: { syntax: 'typescript' } } },
    ],
  },
  // middy is published as ES modules only.
  transformIgnorePatterns: ['/node_modules/(?!@middy/)'],
  // Run apart, by jest.trust.config.mjs.
  testPathIgnorePatterns: ['<rootDir>/test/trust/'],
  testTimeout: 30_000,
};
