import { Command, InvalidArgumentError, Option } from 'commander';
import { runCommandLine } from '../admin/terminal/command-line.ts';
import { processTerminal } from '../admin/terminal/terminal.ts';
import { readLatency } from './latency.ts';

/** The options of every benchmark. */
export interface BenchmarkOptions {
  readonly json?: true;
}

/** @param script its name in package.json. */
export function benchmark(script: string, description: string): Command {
  return new Command(`npm run ${script} --`)
    .description(description)
    .option('--json', 'print JSON');
}

/** Runs a benchmark with the arguments of this process, and sets its exit code. */
export async function runBenchmark(command: Command): Promise<void> {
  process.exitCode = await runCommandLine(command, process.argv.slice(2), processTerminal);
}

export function latencyOption(defaultLatency: string): Option {
  return new Option(
    '--latency <ms>',
    'latency of the push service: 60, or median/p99 such as 60/400',
  )
    .argParser((text) => {
      try {
        return readLatency(text);
      } catch {
        throw new InvalidArgumentError('Use a median such as 60, or median/p99 such as 60/400.');
      }
    })
    .default(readLatency(defaultLatency), defaultLatency);
}

/** @throws {InvalidArgumentError} */
export function wholeNumber(text: string): number {
  if (/^\d+$/.test(text) && Number(text) >= 1) return Number(text);
  throw new InvalidArgumentError('Use a whole number above 0.');
}
