const root = '<rootDir>/test';

/** Suites that run apart, chosen by `SUITE`: they need a browser or a compiler, or take minutes. */
const suites = {
  browser: {
    globalSetup: `${root}/browser/global-setup.ts`,
    testTimeout: 120_000,
    // esbuild's process may outlive the worker that started it, and holds its output open.
    forceExit: true,
  },
  reliability: {
    globalSetup: `${root}/reliability/global-setup.ts`,
    testTimeout: 300_000,
    // A third of the tests' time is waiting, for time-outs and retries.
    maxWorkers: 3,
  },
  // Each test runs the CDK's own command, which takes some seconds.
  deploy: { testTimeout: 300_000 },
  runtime: { testTimeout: 300_000 },
  wordpress: { testTimeout: 300_000, forceExit: true },
  // Installs from the npm registry, and builds twice.
  frameworks: {
    globalSetup: `${root}/browser/global-setup.ts`,
    testTimeout: 1_200_000,
    forceExit: true,
  },
};

const { SUITE } = process.env;
const sources = [
  'admin',
  'aws-emulator',
  'bench',
  'bin',
  'console',
  'contract',
  'lambdas',
  'lib',
  'local',
  'sdk',
];

/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  // With the sources, `--changedSince` finds the tests that import what was changed.
  roots: SUITE ? [`${root}/${SUITE}`] : ['test', ...sources].map((folder) => `<rootDir>/${folder}`),
  // Both have packages of the same names.
  modulePathIgnorePatterns: ['<rootDir>/sdk/dist/'],
  testPathIgnorePatterns: [
    '/node_modules/',
    ...(SUITE ? [] : Object.keys(suites).map((suite) => `${root}/${suite}/`)),
  ],
  // By default Jest leaves one processor idle. Two browsers at once keep a machine responsive.
  maxWorkers: SUITE === 'browser' ? 2 : '100%',
  // The tests' modules fill a worker, which gets slower by and by.
  workerIdleMemoryLimit: '512MB',
  globalSetup: `${root}/global-setup.ts`,
  globalTeardown: `${root}/global-teardown.ts`,
  transform: {
    '^.+\\.(t|j|mj)s$': [
      '@swc/jest',
      { jsc: { target: 'es2023', parser: { syntax: 'typescript' } } },
    ],
    '^.+\\.tsx$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2023',
          parser: { syntax: 'typescript', tsx: true },
          transform: { react: { runtime: 'automatic' } },
        },
      },
    ],
  },
  // Published as ES modules only.
  transformIgnorePatterns: ['/node_modules/(?!@middy/)'],
  // Longer than `until` waits: its error says what for.
  testTimeout: 45_000,
  ...suites[SUITE],
};
