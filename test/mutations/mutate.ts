import { Command } from 'commander';
import setUp from '../global-setup.ts';
import tearDown from '../global-teardown.ts';
import { type Mutation, problemsOf, testsOf } from './mutation.ts';
import { mutations } from './mutations.ts';
import { ProjectCopy, type TestOutcome } from './project-copy.ts';

interface Result extends Pick<Mutation, 'file' | 'description' | 'survives'> {
  /** The test that caught it; undefined if it survived. */
  readonly caughtBy: string | undefined;
  readonly seconds: number;
}

interface Options {
  readonly only?: readonly string[];
  readonly json?: boolean;
}

new Command('npm run mutate --')
  .description('Changes the code in one place at a time, and runs the tests that should notice.')
  .option('--only <texts...>', 'mutations with one of these texts in their file or description')
  .option('--json', 'prints the results as JSON; the lines go to standard error')
  .action(run)
  .parse();

async function run({ only = [''], json = false }: Options): Promise<void> {
  const chosen = mutations.filter(({ file, description }) =>
    only.some((text) => `${file} ${description}`.includes(text)),
  );
  if (chosen.length === 0) return fail(`No mutation has the text "${only.join('" or "')}".`);
  const problems = problemsOf(chosen);
  if (problems.length > 0) return fail(problems.join('\n'));
  const print = (line: string) => (json ? process.stderr : process.stdout).write(`${line}\n`);

  const copy = new ProjectCopy();
  process.once('SIGINT', () => process.exit(130));
  process.once('exit', () => copy.remove());
  // The tests import the mutated code, and take only table definitions from the assembly.
  await setUp();
  try {
    print(`Running the tests of ${chosen.length} mutations without any …`);
    const unmutated = await copy.test([...new Set(chosen.flatMap(testsOf))]);
    if (unmutated !== 'passed') return fail(`Fails without a mutation: ${unmutated.failed}`);

    const results: Result[] = [];
    for (const mutation of chosen) {
      const result = await resultOf(copy, mutation);
      results.push(result);
      print(`${results.length}/${chosen.length}  ${textOf(result)}`);
    }
    const survivors = results.filter(({ caughtBy }) => caughtBy === undefined);
    const unexpected = survivors.filter(({ survives }) => survives === undefined);
    print(
      `${results.length} mutations: ${results.length - survivors.length} caught, ` +
        `${survivors.length} survived, ${unexpected.length} of them unexpectedly.`,
    );
    if (json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
    if (unexpected.length > 0) process.exitCode = 1;
  } finally {
    await tearDown();
  }
}

async function resultOf(copy: ProjectCopy, mutation: Mutation): Promise<Result> {
  const { file, description, survives } = mutation;
  const startedAt = performance.now();
  const outcome = await copy.withMutation(mutation, async () => {
    let last: TestOutcome = 'passed';
    for (const path of testsOf(mutation)) {
      last = await copy.test([path]);
      if (last !== 'passed') break;
    }
    return last;
  });
  const caughtBy = outcome === 'passed' ? undefined : outcome.failed;
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  return { file, description, survives, caughtBy, seconds };
}

function textOf({ file, description, survives, caughtBy, seconds }: Result): string {
  const subject = `${file}: ${description} (${seconds} s)`;
  if (caughtBy === undefined) {
    return survives === undefined
      ? `SURVIVED  ${subject}`
      : `survived  ${subject}\n          as expected: ${survives}`;
  }
  const note =
    survives === undefined ? '' : '\n          Remove its `survives`: a test notices it.';
  return `caught    ${subject}\n          by ${caughtBy}${note}`;
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}
