import { relative } from 'node:path';
import type { FigureRecord } from './record.ts';

/** What is read of Jest's own report (`--json`). */
export interface TestRun {
  readonly success: boolean;
  readonly testResults: readonly {
    /** Path of the test file. */
    readonly name: string;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly fullName: string;
      readonly status: string;
    }[];
  }[];
}

interface Row {
  readonly promise: string;
  readonly file: string;
  tests: number;
  readonly figures: Map<string, number>;
}

/**
 * The rows of the report, in the order of files and tests. A promise is the title of the outermost
 * `describe` around its tests, or of a test that stands alone.
 */
export function readRows(run: TestRun, records: readonly FigureRecord[], root: string): Row[] {
  const rows = new Map<string, Row>();
  const rowOf = new Map<string, Row>();
  const files = [...run.testResults].sort((one, other) => (one.name < other.name ? -1 : 1));
  for (const { name, assertionResults } of files) {
    for (const { ancestorTitles, title, fullName, status } of assertionResults) {
      if (status !== 'passed') continue;
      const promise = ancestorTitles[0] ?? title;
      const key = `${name} ${promise}`;
      const row = rows.get(key) ?? {
        promise,
        file: relative(root, name),
        tests: 0,
        figures: new Map(),
      };
      row.tests += 1;
      rows.set(key, row);
      rowOf.set(`${name} ${fullName}`, row);
    }
  }
  for (const { testPath, testName, figure, count } of records) {
    const row = rowOf.get(`${testPath} ${testName}`);
    if (row === undefined) throw new Error(`"${testName}" has a figure and did not pass.`);
    row.figures.set(figure, (row.figures.get(figure) ?? 0) + count);
  }
  return [...rows.values()];
}

/** The document, in Markdown. */
export function reliabilityDocument(rows: readonly Row[], seed: string): string {
  const number = new Intl.NumberFormat('en-US');
  const lines = rows.map(({ promise, file, tests, figures }) => {
    const counted = [...figures, ['tests', tests] as const].map(
      ([figure, count]) => `${figure}: ${number.format(count)}`,
    );
    const cells = [sentence(promise), `[${file}](../${file})`, counted.join('<br>')];
    return `| ${cells.map(tableText).join(' | ')} |`;
  });
  return `# Reliability

What the service promises under load, faults and attack, the test that holds it to each promise,
and what that test counted when this page was written. The page is the output of
\`npm run test:reliability -- --report\`, which writes it only where every test has passed; this one ran
with the seed ${seed} (\`SEED\` runs it again).

| Promise | Test | Figure |
|---|---|---|
${lines.join('\n')}
`;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function tableText(text: string): string {
  return text.replaceAll('|', '\\|');
}
