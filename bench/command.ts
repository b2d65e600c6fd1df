import {
  describeFlags,
  type Flags,
  type ParsedArguments,
  readArguments,
  UsageError,
} from '../admin/terminal/arguments.ts';
import { paintFor, processTerminal } from '../admin/terminal/terminal.ts';

/** Runs a benchmark's command line, and leaves its exit code. */
export async function command<const Known extends Flags>(
  name: string,
  known: Known,
  run: (flags: ParsedArguments<Known>['flags']) => Promise<void>,
): Promise<void> {
  const { output, messages } = processTerminal;
  try {
    const { operands, flags } = readArguments(process.argv.slice(2), known);
    if (operands.length > 0) throw new UsageError(`"${operands[0]}" is one argument too many.`);
    if ('help' in flags) output.write(`npm run ${name} -- [options]\n\n${describeFlags(known)}`);
    else await run(flags);
  } catch (error) {
    const message = (error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ');
    messages.write(`${paintFor(messages)('red', message)}\n`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}

/** @throws {UsageError} */
export function wholeNumber(flag: string, text: string, least = 1): number {
  if (/^\d+$/.test(text) && Number(text) >= least) return Number(text);
  throw new UsageError(`--${flag} must be a whole number from ${least} on; it is "${text}".`);
}
