import { changedTests } from '../../bin/changed-tests.ts';

const folders = ['test/lambdas', 'test/lambdas/send', 'test/console', 'test/fixtures'];
const testsOf = (...files: readonly string[]) =>
  changedTests(files, (path) => folders.includes(path) || path === 'test/service/cors.test.ts');

test.each([
  ['lambdas/send/send.ts', 'test/lambdas/send/'],
  ['lambdas/track/handler.ts', 'test/lambdas/'],
  ['console/page/send/send-view.tsx', 'test/console/'],
  ['docs/sdk.md', 'test/docs'],
  ['README.md', 'test/docs'],
  ['test/service/cors.test.ts', 'test/service/cors.test.ts'],
  ['test/fixtures/until.ts', 'test/fixtures/'],
])('the tests of %s are in %s', (file, path) => {
  const { paths, untested } = testsOf(file);
  expect(paths.map((one) => one.replace(/docs\/$/, 'docs'))).toEqual([path]);
  expect(untested).toEqual([]);
});

test('the tests beside a removed test run', () => {
  expect(testsOf('test/console/removed.test.ts').paths).toEqual(['test/console/']);
});

test('each folder is named once', () => {
  expect(testsOf('lambdas/send/send.ts', 'lambdas/send/handler.ts').paths).toEqual([
    'test/lambdas/send/',
  ]);
});

test('tests of a suite that runs apart are left to its command', () => {
  expect(testsOf('test/browser/bell.test.ts', 'test/reliability/fixtures/runs.ts')).toEqual({
    paths: [],
    apart: ['npm run test:browser -- test/browser/bell.test.ts', 'npm run test:reliability'],
    untested: [],
  });
});

test('a file without a folder of tests is named', () => {
  expect(testsOf('package.json', 'examples/react/site.tsx').untested).toEqual([
    'package.json',
    'examples/react/site.tsx',
  ]);
});
