import base from './jest.config.mjs';

/** Tests in real browsers: apart, since they need one installed. @type {import('jest').Config} */
export default {
  ...base,
  roots: ['<rootDir>/test/browser'],
  globalSetup: '<rootDir>/test/browser/global-setup.ts',
  testPathIgnorePatterns: ['/node_modules/'],
  // One browser at a time keeps two cores responsive.
  maxWorkers: 1,
  testTimeout: 60_000,
};
