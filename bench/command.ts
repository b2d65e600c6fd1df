import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus, totalmem } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { runCommandLine } from '../admin/terminal/command-line.ts';
import { type Column, table } from '../admin/terminal/table.ts';
import { paintFor, processTerminal } from '../admin/terminal/terminal.ts';
import { installNode } from '../bin/node-binary.ts';
import { nodeVersion } from '../contract/runtime.ts';
import { readLatency } from './latency.ts';

/** The options of every benchmark. */
export interface BenchmarkOptions {
  /** Major version of Node, or the Node that runs this process. */
  readonly node: number | 'current';
  readonly json?: true;
}

/** @param script its name in package.json. */
export function benchmark(script: string, description: string): Command {
  return new Command(`npm run ${script} --`)
    .description(description)
    .option(
      '--node <version>',
      'major version of Node, installed from npm; or current',
      (text: string) => (text === 'current' ? text : wholeNumber(text)),
      nodeVersion,
    )
    .option('--json', 'print JSON');
}

/** What a benchmark prints: JSON, or a line about it and a table. */
interface Results {
  readonly json: object;
  readonly about: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
}

/**
 * Runs a benchmark with the arguments of this process, prints its results, and sets its exit code. If this is not the
 * requested Node version, that one runs it, in another process.
 */
export async function runBenchmark<Options extends BenchmarkOptions>(
  command: Command,
  run: (options: Options) => Promise<Results>,
): Promise<void> {
  let childExitCode = 0;
  command.action(async (options: Options) => {
    if (options.node !== 'current' && options.node !== runningNodeVersion) {
      childExitCode = await runAgain(options.node);
      return;
    }
    const { json, about, columns, rows } = await run(options);
    const { output } = processTerminal;
    output.write(
      options.json
        ? `${JSON.stringify({ machine: machine(), ...json }, null, 2)}\n`
        : `${describeMachine()}\n${about}\n\n${table(columns, rows, paintFor(output))}`,
    );
  });
  const exitCode = await runCommandLine(command, process.argv.slice(2), processTerminal);
  process.exitCode = exitCode || childExitCode;
}

const runningNodeVersion = Number.parseInt(process.versions.node, 10);

/** Runs this program in another version of Node. @returns its exit code. */
async function runAgain(node: number): Promise<number> {
  const binary = await installNode(node).catch(({ message }: Error) => {
    throw new Error(`${message} To measure with Node ${runningNodeVersion}: --node current`);
  });
  const child = spawn(binary, ['--import', 'tsx', ...process.argv.slice(1)], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

export function latencyOption(defaultLatency: string): Option {
  return new Option(
    '--latency <ms>',
    'latency of the push service: 60, or median/p99 such as 60/400',
  )
    .argParser(readLatency)
    .default(readLatency(defaultLatency), defaultLatency);
}

/** @throws {InvalidArgumentError} */
export function wholeNumber(text: string): number {
  if (/^\d+$/.test(text) && Number(text) >= 1) return Number(text);
  throw new InvalidArgumentError('Use a whole number above 0.');
}

/** The hardware and software that results depend on. */
function machine() {
  const { model = 'unknown' } = cpus()[0] ?? {};
  return {
    cpu: model.trim(),
    cores: cpus().length,
    memoryGB: Math.round(totalmem() / 1024 ** 3),
    system: `${process.platform} ${process.arch}`,
    node: process.version,
    openssl: process.versions.openssl!,
  };
}

function describeMachine(): string {
  const { cpu, cores, memoryGB, system, node, openssl } = machine();
  return `${cores} × ${cpu}, ${memoryGB} GB, ${system}, Node ${node}, OpenSSL ${openssl}`;
}
