import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { transformSync } from 'esbuild';

/** One fault put into the code, which the tests should notice. */
export interface Mutation {
  readonly file: string;
  /** What the changed code does. Unique. */
  readonly description: string;
  /** Text that occurs exactly once in the file. */
  readonly from: string;
  readonly to: string;
  /**
   * Tests that should notice, as paths for Jest. They must import the code: a bundle does not have the
   * mutation. Default: those of the file. If these pass, all tests of its folder run.
   */
  readonly tests?: readonly string[];
  /** Why no test can notice it. */
  readonly survives?: string;
}

/** The tests of a mutation, in the order in which they run until one fails. */
export function testsOf({ file, tests }: Mutation): readonly string[] {
  const folder = join('test', dirname(file));
  if (tests !== undefined) return [...new Set([...tests, folder])];
  const own = join(folder, `${basename(file, '.ts')}.test.ts`);
  return existsSync(own) ? [own, folder] : [folder];
}

/** @throws {Error} if the text to change does not occur exactly once. */
export function mutated(source: string, { from, to }: Mutation): string {
  const parts = source.split(from);
  if (parts.length !== 2) {
    throw new Error(`The text to change occurs ${parts.length - 1} times.`);
  }
  return parts.join(to);
}

/** What is wrong with a list of mutations; empty if nothing is. */
export function problemsOf(mutations: readonly Mutation[]): readonly string[] {
  const seen = new Set<string>();
  return mutations.flatMap((mutation) => {
    const { description, file, from, to } = mutation;
    const problems: string[] = [];
    if (seen.has(description)) problems.push(`"${description}" is there twice.`);
    seen.add(description);
    if (from === to) problems.push(`"${description}" changes nothing.`);
    for (const test of testsOf(mutation)) {
      if (!/^test\/(lambdas|simulation)\//.test(test) || !existsSync(test)) {
        problems.push(`"${description}": ${test} does not import the code, or does not exist.`);
      }
    }
    try {
      const text = mutated(readFileSync(file, 'utf8'), mutation);
      transformSync(text, { loader: 'ts', logLevel: 'silent' });
    } catch (error) {
      problems.push(`"${description}": ${(error as Error).message}`);
    }
    return problems;
  });
}
