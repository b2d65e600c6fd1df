import { Command, CommanderError, type Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { takenByNpm } from './npm-options.ts';
import { paintFor, printable, printableJson, type Terminal } from './terminal.ts';

/** The command was called wrongly. */
class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code = 'usage';

  constructor(
    message: string,
    /** The call that prints the help. */
    readonly helpCall: string,
  ) {
    super(message);
  }
}

/**
 * Parses the arguments and runs the action. Prints an error to `messages`: one line, or JSON under
 * `--json`.
 * @param program not used before: an option that is given twice is an error.
 * @returns the exit code: 0, 1 if the action failed, 2 if the command was called wrongly.
 */
export async function runCommandLine(
  program: Command,
  args: readonly string[],
  terminal: Terminal,
): Promise<0 | 1 | 2> {
  const words = withOptionNames(args, program);
  configure(program, words, terminal);
  try {
    await program.parseAsync(words, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return 0; // It printed the help or the version.
    // Not a parsed option, because parsing may have failed.
    if (args.includes('--json')) printJsonError(error as Error, terminal);
    else printError(error as Error, terminal);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** @param examples the arguments after its name. */
export function newCommand(
  name: string,
  description: string,
  ...examples: readonly string[]
): Command {
  return withExamples(new Command(name).description(description), ...examples);
}

/** Adds examples to the help of a command. @param examples the arguments after its name. */
export function withExamples(command: Command, ...examples: readonly string[]): Command {
  return command.addHelpText('after', () => {
    const lines = examples.map((example) => `  ${fullName(command)} ${example}`.trimEnd());
    return `\nExamples:\n${lines.join('\n')}`;
  });
}

function configure(program: Command, args: readonly string[], { output }: Terminal): void {
  program
    .version(packageJson.version, '--version', 'print the version')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => output.write(text),
      // Errors are thrown; `runCommandLine` prints them.
      writeErr: () => {},
      getOutHelpWidth: () => output.columns ?? 80,
    });
  for (const command of withSubcommands(program)) {
    if (command.parent) command.copyInheritedSettings(command.parent);
    command.exitOverride((error) => {
      throw error.exitCode === 0 ? error : usageError(takenError(command, args) ?? error, command);
    });
    checkValues(command, args);
  }
  program.hook('preAction', (_, command) => {
    const taken = takenError(command, args);
    if (taken !== undefined) command.error(taken.message);
  });
}

/** npm has taken options of the command: it would run without them. */
function takenError(
  command: Command,
  args: readonly string[],
): Pick<CommanderError, 'code' | 'message'> | undefined {
  const options = withParents(command).flatMap((one) => one.options);
  const missing = options
    .flatMap(({ long }) => long ?? [])
    .filter((name) => !args.some((arg) => arg.split('=', 1)[0] === name));
  const taken = takenByNpm(missing);
  if (taken.length === 0) return undefined;
  const list = taken.join(' ');
  const message = `Options go after --, as in ${fullName(command)} … ${list}: npm has taken ${list} for itself`;
  return { code: 'taken', message };
}

/** Options may be written as the API writes settings: `--subscriberCap`. */
function withOptionNames(args: readonly string[], program: Command): readonly string[] {
  const names = withSubcommands(program).flatMap(({ options }) => options.map(({ long }) => long));
  const end = args.indexOf('--');
  return args.map((arg, index) => {
    const [name = ''] = arg.split('=', 1);
    const kebab = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const isOption = (end === -1 || index < end) && names.includes(kebab);
    return isOption ? kebab + arg.slice(name.length) : arg;
  });
}

/** A command and all commands below it, parents first. */
function withSubcommands(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

/** A command and all commands above it. */
function withParents(command: Command): readonly Command[] {
  return [command, ...(command.parent ? withParents(command.parent) : [])];
}

/** Options that may be given again, each time with one value. */
export const repeatable = new WeakSet<Option>();

/**
 * Refuses an option that is given twice, unless it takes several values, and one whose value is missing or is another
 * option. Commander takes the last value, and the next argument whatever it is.
 */
function checkValues(command: Command, args: readonly string[]): void {
  for (const option of command.options) {
    let isGiven = false;
    command.on(`option:${option.name()}`, (value: string | undefined) => {
      if (isGiven && !option.variadic && !repeatable.has(option))
        command.error(`option '${option.flags}' is given twice`);
      isGiven = true;
      // One VAPID key in 4,096 starts with two hyphens: `--vapid-private=--…` is valid.
      const isNextOption = value?.startsWith('--') && !args.includes(`${option.long}=${value}`);
      if (value === '' || isNextOption) command.error(`option '${option.flags}' argument missing`);
    });
  }
}

function usageError(
  { code, message }: Pick<CommanderError, 'code' | 'message'>,
  command: Command,
): UsageError {
  const names = command
    .createHelp()
    .visibleCommands(command)
    .map((one) => one.name())
    .filter((name) => name !== 'help');
  const [, missing] = /^error: missing required argument '(\w+)'/.exec(message) ?? [];
  const { argChoices } = command.registeredArguments.find((one) => one.name() === missing) ?? {};
  // Commander's code for a call without a subcommand, for which it prints the help.
  const choices = code === 'commander.help' ? names : argChoices;
  const text = code === 'commander.help' ? 'missing command' : message;
  const advice = choices === undefined ? '' : `: use one of ${choices.join(', ')}`;
  return new UsageError(toSentence(text + advice), `${fullName(command)} --help`);
}

/** `error: unknown option '--x'\n(Did you mean --y?)` as `Unknown option '--x'. Did you mean --y?`. */
function toSentence(message: string): string {
  const text = message
    .replace(/^error: /, '')
    .replace(/^command-argument value (.*) is invalid for argument '(\w+)'/s, '<$2> $1 is invalid')
    .replace(/\n\((.*)\)$/, '. $1');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?]$/.test(text) ? '' : '.'}`;
}

/** The name of a command after the names of its parents. */
function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
}

function printError(error: Error, { messages }: Terminal): void {
  const line = printable(error.message.replaceAll('\n', ' '));
  messages.write(`${paintFor(messages)('red', line)}\n`);
  if (error instanceof UsageError) messages.write(`See: ${error.helpCall}\n`);
}

function printJsonError(error: Error & { code?: unknown }, terminal: Terminal): void {
  const { message } = error;
  // An error without a code comes from AWS or the network.
  const code = typeof error.code === 'string' ? error.code : 'failed';
  terminal.messages.write(`${printableJson({ error: { code, message } })}\n`);
}
