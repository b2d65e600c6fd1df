import { readFileSync } from 'node:fs';
import type { FigureRecord } from '../reliability/report/record.ts';
import { readRows, reliabilityDocument, type TestRun } from '../reliability/report/reliability.ts';

const root = '/repository';
const file = `${root}/test/reliability/a.test.ts`;

function run(...tests: readonly [string[], string, string][]): TestRun {
  const assertionResults = tests.map(([ancestorTitles, title, status]) => ({
    ancestorTitles,
    title,
    fullName: [...ancestorTitles, title].join(' '),
    status,
  }));
  return { success: true, testResults: [{ name: file, assertionResults }] };
}

function figure(testName: string, count: number): FigureRecord {
  return { testPath: file, testName, figure: 'things tried', count };
}

test('a test that stands alone is a promise, and so are all of one describe together', () => {
  const rows = readRows(
    run(
      [['holds'], 'one', 'passed'],
      [['holds', 'deeply'], 'two', 'passed'],
      [[], 'alone', 'passed'],
    ),
    [
      figure('holds one', 2),
      figure('holds one', 1000),
      figure('holds deeply two', 3),
      figure('alone', 4),
    ],
    root,
  );
  const document = reliabilityDocument(rows, '7');
  const link = '[test/reliability/a.test.ts](../test/reliability/a.test.ts)';
  expect(document).toContain(`| Holds | ${link} | things tried: 1,005<br>tests: 2 |`);
  expect(document).toContain(`| Alone | ${link} | things tried: 4<br>tests: 1 |`);
  expect(document).toContain('seed 7 ');
});

test('a figure of a test that did not pass stops the report', () => {
  expect(() => readRows(run([[], 'a', 'failed']), [figure('a', 1)], root)).toThrow('did not pass');
});

test('each promise of the document is a title in the test that it names', () => {
  const rows = readFileSync('docs/reliability.md', 'utf8').matchAll(
    /^\| (.+?) \| \[(test\/trust\/.+?)\]/gm,
  );
  const missing = [...rows]
    .map(([, promise = '', path = '']) => ({ promise, path }))
    .filter(({ promise, path }) => !readFileSync(path, 'utf8').includes(promise.slice(1)));
  expect(missing).toEqual([]);
});
