import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChangedTests, changedTests } from './changed-tests.ts';

/** A script in package.json, with its arguments. */
type Step = readonly [script: string, ...parameters: readonly string[]];

/** The checks that every change must pass, fastest first. */
const allSteps: readonly Step[] = [
  ['lint'],
  ['lint:api'],
  ['imports'],
  ['types'],
  ['test'],
  ['synth'],
];

const parameters = process.argv.slice(2);
if (parameters.some((one) => one !== '--changed')) {
  console.error(
    'npm run check takes only --changed: lint, types and the tests of what changed since main.',
  );
  process.exit(2);
}
const changed = parameters.length > 0 ? changedTests(changedFiles(), existsSync) : undefined;
const steps = changed === undefined ? allSteps : stepsFor(changed);

const startedAt = performance.now();
for (const [index, [script, ...others]] of steps.entries()) {
  const stepStartedAt = performance.now();
  console.log(`\n== ${script} (${index + 1} of ${steps.length})`);
  const again = await run(script, others);
  if (again !== undefined) {
    console.error(`\nFailed: ${script}. Run it again with: ${again}`);
    process.exit(1);
  }
  console.log(`== ${script}: passed in ${seconds(stepStartedAt)}`);
}
const names = steps.map(([script]) => script).join(', ');
console.log(`\nAll ${steps.length} checks passed in ${seconds(startedAt)}: ${names}.`);
if (changed !== undefined) printRest(changed);

/** @returns undefined if the script passed, otherwise the command that repeats what failed. */
async function run(script: string, others: readonly string[]): Promise<string | undefined> {
  if (script !== 'test') return (await passes(script, others)) ? undefined : `npm run ${script}`;
  const folder = mkdtempSync(join(tmpdir(), 'carillon-check-'));
  try {
    const report = join(folder, 'report.json');
    if (await passes('test', ['--json', `--outputFile=${report}`, ...others])) return undefined;
    return ['npm test --', ...failedFiles(report)].join(' ');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function passes(script: string, others: readonly string[]): Promise<boolean> {
  const npm = spawn('npm', ['run', '--silent', script, '--', ...others], { stdio: 'inherit' });
  const [code] = await once(npm, 'exit');
  return code === 0;
}

/** None if Jest itself ended early. */
function failedFiles(report: string): readonly string[] {
  if (!existsSync(report)) return [];
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    testResults: readonly { readonly name: string; readonly status: string }[];
  };
  const failed = testResults.filter(({ status }) => status === 'failed');
  return failed.map(({ name }) => name.replace(`${process.cwd()}/`, ''));
}

function stepsFor({ paths }: ChangedTests): readonly Step[] {
  return [
    ['lint'],
    ['types'],
    ...(paths.length > 0 ? [['test', '--passWithNoTests', ...paths] as const] : []),
  ];
}

function printRest({ apart, untested }: ChangedTests): void {
  for (const command of apart) console.log(`Not run: ${command}`);
  if (untested.length > 0) console.log(`Without tests of their own: ${untested.join(', ')}.`);
  console.log('Before a pull request, run all checks: npm run check');
}

/** Since the branch left main: committed or not, new ones too. */
function changedFiles(): readonly string[] {
  const main = ['origin/main', 'main'].find((name) => git('rev-parse', '--verify', name) !== '');
  const base = main === undefined ? 'HEAD' : git('merge-base', 'HEAD', main);
  const text = `${git('diff', '--name-only', base)}\n${git('ls-files', '--others', '--exclude-standard')}`;
  return text.split('\n').filter((line) => line !== '');
}

/** @returns the output, or an empty text if git fails. */
function git(...args: readonly string[]): string {
  return spawnSync('git', args, { encoding: 'utf8' }).stdout.trim();
}

function seconds(since: number): string {
  return `${Math.round((performance.now() - since) / 1000)} s`;
}
