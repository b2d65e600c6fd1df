import { parseArgs } from 'node:util';
import { nearestName } from '../../contract/nearest-name.ts';

/** An option of a command: one with a `value` takes one, one without is a switch. */
export interface Flag {
  /** What the help calls the value: `<name>`. */
  readonly value?: string;
  readonly help: string;
}

export type Flags = Readonly<Record<string, Flag>>;

export interface ParsedArguments<Known extends Flags> {
  readonly operands: readonly string[];
  readonly flags: {
    readonly [Name in keyof Known]?: FlagValue<Known[Name]>;
  };
}

type FlagValue<One extends Flag> = 'value' extends keyof One
  ? One extends { readonly value: string }
    ? string
    : string | true
  : true;

/** A command called wrongly; the message is one sentence for the person who did. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code = 'usage';
}

/**
 * Reads a command's arguments against the flags it knows.
 * @throws {UsageError} for an unknown flag, a missing value, a value where none belongs, and a
 *   flag given twice.
 */
export function readArguments<const Known extends Flags>(
  args: readonly string[],
  known: Known,
): ParsedArguments<Known> {
  const options = Object.fromEntries(
    Object.entries(known).map(([name, { value }]) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        ...(name === 'help' && { short: 'h' }),
      },
    ]),
  );
  // Not `strict`, whose errors name no near miss.
  const { tokens } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const flags: Record<string, string | true> = {};
  const operands: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') operands.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    if (Object.hasOwn(flags, name)) throw new UsageError(`${rawName} is given twice.`);
    flags[name] = readFlag(known, name, rawName, value, token.inlineValue === true);
  }
  return { operands, flags: flags as ParsedArguments<Known>['flags'] };
}

function readFlag(
  known: Flags,
  name: string,
  rawName: string,
  value: string | undefined,
  inline: boolean,
): string | true {
  const flag = Object.hasOwn(known, name) ? known[name] : undefined;
  if (flag === undefined) {
    const near = nearestName(name, Object.keys(known));
    const hint = near === undefined ? '' : ` Did you mean --${near}?`;
    throw new UsageError(`There is no option ${rawName}.${hint}`);
  }
  if (flag.value === undefined) {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value.`);
    return true;
  }
  // What follows is then another option, not this one's value.
  if (value === undefined || value === '' || (!inline && value.startsWith('--'))) {
    throw new UsageError(`${rawName} needs a value: ${rawName}=${flag.value}.`);
  }
  return value;
}

/** The lines of a help text that list flags, their columns in line. */
export function describeFlags(flags: Flags): string {
  const rows = Object.entries(flags).map(([name, { value, help }]) => ({
    left: `  --${name}${value === undefined ? '' : ` ${value}`}`,
    help,
  }));
  const width = Math.max(...rows.map(({ left }) => left.length));
  return rows.map(({ left, help }) => `${left.padEnd(width)}  ${help}\n`).join('');
}
