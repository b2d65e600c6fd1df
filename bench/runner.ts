import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus, totalmem } from 'node:os';
import { Command, InvalidArgumentError } from 'commander';
import { runCommandLine } from '../admin/terminal/command-line.ts';
import { processTerminal } from '../admin/terminal/terminal.ts';
import { installNode } from '../bin/deployed-node.ts';
import { nodeVersion } from '../contract/infrastructure/runtime.ts';
import type { Latency } from './push-server.ts';

const { output, messages } = processTerminal;
const runningNodeVersion = Number.parseInt(process.versions.node, 10);

/** What a measurement prints: JSON, or a line about it and a table. */
interface Results {
  readonly json: object;
  readonly about: string;
  /** Figures by the titles of their columns. */
  readonly table: readonly object[];
}

/** @param script its name in package.json. */
export function measurement(script: string, description: string): Command {
  return new Command(`npm run ${script} --`)
    .description(description)
    .option(
      '--node <version>',
      'major version of Node, installed from npm; or current',
      (text: string) => (text === 'current' ? runningNodeVersion : wholeNumber(text)),
      nodeVersion,
    )
    .option('--json', 'print JSON');
}

/**
 * Runs a measurement with the arguments of this process, prints its results, and sets its exit code. If this is not the
 * requested Node version, that one runs it, in another process.
 */
export async function runMeasurement<Options>(
  command: Command,
  measure: (options: Options) => Promise<Results>,
): Promise<void> {
  let childExitCode = 0;
  command.action(async (options: Options & { readonly node: number; readonly json?: true }) => {
    if (options.node !== runningNodeVersion) {
      childExitCode = await runAgain(options.node);
      return;
    }
    const { json, about, table } = await measure(options);
    const machine = describeMachine();
    if (options.json) {
      output.write(`${JSON.stringify({ machine, ...json }, null, 2)}\n`);
      return;
    }
    const { cpu, cores, memoryGB, system, node, openssl } = machine;
    output.write(
      `${cores} × ${cpu}, ${memoryGB} GB, ${system}, Node ${node}, OpenSSL ${openssl}\n`,
    );
    output.write(`${about}\n`);
    console.table(table.map(rounded));
  });
  const exitCode = await runCommandLine(command, process.argv.slice(2), processTerminal);
  process.exitCode = exitCode || childExitCode;
}

/** Figures of a row, with three digits. */
function rounded(row: object): object {
  const round = (figure: unknown) =>
    typeof figure === 'number'
      ? Number(figure.toPrecision(Math.max(3, `${Math.trunc(figure)}`.length)))
      : figure;
  return Object.fromEntries(Object.entries(row).map(([title, figure]) => [title, round(figure)]));
}

/** Says on the terminal what is being measured. */
export const progress = (text: string) => messages.write(`${text}\n`);

/** Runs this program in another version of Node. @returns its exit code. */
async function runAgain(node: number): Promise<number> {
  const binary = await installNode(node).catch(({ message }: Error) => {
    throw new Error(`${message} To measure with Node ${runningNodeVersion}: --node current`);
  });
  const child = spawn(binary, ['--import', 'tsx', ...process.argv.slice(1)], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

/** The hardware and software that results depend on. */
function describeMachine() {
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

/** @throws {InvalidArgumentError} */
export function wholeNumber(text: string): number {
  if (/^\d+$/.test(text) && Number(text) >= 1) return Number(text);
  throw new InvalidArgumentError('Use a whole number above 0.');
}

/** The arguments of `.option` for the latency of the push service. @param byDefault as it is written. */
export function latencyOption(byDefault: string) {
  const description = `latency of the push service: 60, or median/p99 such as 60/400 (default: ${byDefault})`;
  return ['--latency <ms>', description, readLatency, readLatency(byDefault)] as const;
}

/** Reads `60`, or `60/400` for a log-normal distribution with this median and 99th percentile. */
function readLatency(text: string): Latency {
  const [, median, p99] = /^(\d+)(?:\/(\d+))?$/.exec(text) ?? [];
  if (median === undefined || (p99 !== undefined && Number(p99) <= Number(median))) {
    throw new InvalidArgumentError('Use a median such as 60, or median/p99 such as 60/400.');
  }
  return { medianMs: Number(median), ...(p99 !== undefined && { p99Ms: Number(p99) }) };
}

export function describeLatency({ medianMs, p99Ms }: Latency): string {
  return p99Ms === undefined ? `${medianMs} ms` : `${medianMs} ms (p99 ${p99Ms} ms)`;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}
