import base from './jest.config.mjs';

/**
 * The tests that trust rests on: longer than all others together, so run apart, by
 * `npm run test:reliability`. No more files at once than keep a small machine busy: each has a service.
 * @type {import('jest').Config}
 */
export default {
  ...base,
  roots: ['<rootDir>/test/reliability'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 2,
  testTimeout: 300_000,
};
