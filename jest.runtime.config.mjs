import base from './jest.config.mjs';

/**
 * The bundles under AWS's own runtime client. Apart, since it takes a compiler and a minute to build:
 * `npm run test:runtime`.
 * @type {import('jest').Config}
 */
export default {
  ...base,
  roots: ['<rootDir>/test/runtime'],
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: 300_000,
};
