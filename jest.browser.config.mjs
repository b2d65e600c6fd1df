import base from './jest.config.mjs';

/** Tests in real browsers: apart, since they need one installed. @type {import('jest').Config} */
export default {
  ...base,
  roots: ['<rootDir>/test/browser'],
  globalSetup: '<rootDir>/test/browser/global-setup.ts',
  testPathIgnorePatterns: ['/node_modules/'],
  // Two browsers at a time: each waits for half of its time.
  maxWorkers: 2,
  // esbuild's process may outlive the worker that started it, and holds its output open.
  forceExit: true,
  testTimeout: 60_000,
};
