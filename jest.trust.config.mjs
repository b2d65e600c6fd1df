import base from './jest.config.mjs';

/**
 * The tests that trust rests on: longer than all others together, so run apart, by
 * `npm run test:trust`. One file at a time, since each keeps both cores of a small machine busy.
 * @type {import('jest').Config}
 */
export default {
  ...base,
  roots: ['<rootDir>/test/trust'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 1,
  testTimeout: 300_000,
};
