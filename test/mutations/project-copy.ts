import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Mutation, mutated } from './mutation.ts';

/** Milliseconds after which tests count as failed: a mutation may never end. */
const timeoutMs = 2 * 60_000;

/** For each mutation that the unit tests do not notice, unless the environment has other `RUNS`. */
const simulatedSends = 400;

/** How tests ended: passed, or failed, and the first one that did. */
export type TestOutcome = 'passed' | { readonly failed: string };

const notCopied = new Set(['node_modules', '.git', 'cdk.out', '.carillon', 'coverage']);

/** A copy of the project, so that nobody who works on it sees a mutation. */
export class ProjectCopy {
  readonly #folder = mkdtempSync(join(tmpdir(), 'carillon-mutations-'));

  constructor() {
    cpSync('.', this.#folder, {
      recursive: true,
      filter: (path) => !notCopied.has(basename(path)),
    });
    symlinkSync(resolve('node_modules'), join(this.#folder, 'node_modules'));
  }

  /** Runs tests while the copy has a mutation. */
  async withMutation<Result>(mutation: Mutation, run: () => Promise<Result>): Promise<Result> {
    const source = await readFile(mutation.file, 'utf8');
    const file = join(this.#folder, mutation.file);
    await writeFile(file, mutated(source, mutation));
    try {
      return await run();
    } finally {
      await writeFile(file, source);
    }
  }

  /** Runs tests until a file of them fails. @throws if Jest could not run them. */
  async test(paths: readonly string[]): Promise<TestOutcome> {
    const { code, isKilled, text } = await this.#jest(paths);
    if (isKilled) return { failed: `${paths.join(' ')}: no end after ${timeoutMs / 60_000} min` };
    return code === 0 ? 'passed' : { failed: failureIn(text) };
  }

  async #jest(paths: readonly string[]): Promise<Run> {
    // The assembly is kept for the next tests.
    const kept = { CARILLON_ASSEMBLY_TEMPORARY: '', FORCE_COLOR: '0' };
    const env = { RUNS: String(simulatedSends), ...process.env, ...kept };
    const jest = ['node_modules/jest/bin/jest.js', '--bail', '--silent', ...paths];
    // A group of its own: Jest's workers do not end with it while they are in an endless loop.
    const child = spawn(process.execPath, jest, { cwd: this.#folder, env, detached: true });
    child.stdout.resume();
    let isKilled = false;
    const kill = () => process.kill(-child.pid!, 'SIGKILL');
    const timer = setTimeout(() => {
      isKilled = true;
      kill();
    }, timeoutMs);
    process.once('exit', kill);
    const [printed, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    clearTimeout(timer);
    process.off('exit', kill);
    return { code, isKilled, text: printed };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

interface Run {
  readonly code: number | null;
  readonly isKilled: boolean;
  /** What Jest printed. With `--bail` it writes no report as JSON. */
  readonly text: string;
}

/** @throws {Error} if no test failed: code that cannot be loaded proves nothing about the tests. */
function failureIn(text: string): string {
  const [, file, test] = /^FAIL (\S+).*?^ {2}● (.+?)$/ms.exec(text) ?? [];
  if (file === undefined || test === 'Test suite failed to run') throw new Error(text);
  return `${basename(file)}: ${test}`;
}
