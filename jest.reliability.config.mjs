import base from './jest.config.mjs';

/**
 * Tests of exactness, faults, floods and hostile input. They take minutes, so they run apart, by
 * `npm run test:reliability`. Each file starts a stack: two at once keep a small machine responsive.
 * @type {import('jest').Config}
 */
export default {
  ...base,
  roots: ['<rootDir>/test/reliability'],
  globalSetup: '<rootDir>/test/reliability/global-setup.ts',
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 2,
  testTimeout: 300_000,
};
