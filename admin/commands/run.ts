import { projectIdPattern } from '../../contract/limits.ts';
import { nearestName } from '../../contract/nearest-name.ts';
import {
  describeFlags,
  type Flags,
  type ParsedArguments,
  readArguments,
  UsageError,
} from '../terminal/arguments.ts';
import { printable, printableJson } from '../terminal/printable.ts';
import { paintFor, type Terminal } from '../terminal/terminal.ts';
import { type Command, call } from './command.ts';
import { connect, type StackLocation } from './connection.ts';
import { create } from './create.ts';
import { remove } from './delete.ts';
import { list } from './list.ts';
import { rotateKey } from './rotate-key.ts';
import { setPlan } from './set-plan.ts';
import { show } from './show.ts';

// A command reads only flags of its own, so that all can be called alike.
const commands = new Map<string, Command>([
  ['create', create],
  ['show', show],
  ['list', list],
  ['set-plan', setPlan],
  ['rotate-key', rotateKey],
  ['delete', remove],
]);

const commonFlags = {
  json: { help: 'print JSON' },
  local: { help: 'act on the local stack that runs in this folder' },
  stack: { value: '<name>', help: 'the deployed stack; Carillon where left out' },
  region: { value: '<region>', help: "its AWS region; your profile's where left out" },
  help: { help: 'print this' },
} as const satisfies Flags;

type CommonFlags = ParsedArguments<typeof commonFlags>['flags'];

/**
 * The operator's command.
 * @param stateFile where a local stack leaves its state.
 * @returns the exit code: 0, 1 where it failed, 2 where it was called wrongly.
 */
export async function runProjects(
  args: readonly string[],
  terminal: Terminal,
  stateFile: string,
): Promise<0 | 1 | 2> {
  const [name, ...rest] = args;
  try {
    await dispatch(name, rest, terminal, stateFile);
    return 0;
  } catch (error) {
    const exitCode = error instanceof UsageError ? 2 : 1;
    // Not a parsed flag: the arguments may be what could not be read.
    if (args.includes('--json')) {
      terminal.messages.write(`${printableJson({ error: errorJson(error) })}\n`);
      return exitCode;
    }
    const paint = paintFor(terminal.messages);
    const line = printable(errorJson(error).message.replaceAll('\n', ' '));
    terminal.messages.write(`${paint('red', line)}\n`);
    if (exitCode === 2) {
      const about = name !== undefined && commands.has(name) ? `${name} ` : '';
      terminal.messages.write(`See: ${call} ${about}--help\n`);
    }
    return exitCode;
  }
}

/** An error as `--json` shows it. */
function errorJson(error: unknown): { code?: unknown; message: string } {
  const { code, message } = error as Error & { code?: unknown };
  return { code, message };
}

async function dispatch(
  name: string | undefined,
  args: readonly string[],
  terminal: Terminal,
  stateFile: string,
): Promise<void> {
  if (name === '--help' || name === '-h' || name === 'help') {
    terminal.output.write(overview());
    return;
  }
  if (name === undefined) throw new UsageError('Which command?');
  const command = commands.get(name);
  if (!command) {
    const near = nearestName(name, [...commands.keys()]);
    throw new UsageError(`There is no command "${name}".${near ? ` Did you mean ${near}?` : ''}`);
  }
  const known: Flags & typeof commonFlags = { ...command.flags, ...commonFlags };
  const { operands, flags } = readArguments(args, known);
  const common: CommonFlags = flags;
  if (common.help) {
    terminal.output.write(help(name, command));
    return;
  }
  const act = command.prepare(flags, readProjectId(command, operands));
  const { registry, baseUrl, close } = await connect(readPlace(common, stateFile));
  try {
    await act({
      registry,
      baseUrl,
      terminal,
      print: (value, text) => {
        terminal.output.write(common.json ? `${printableJson(value)}\n` : text);
      },
    });
  } finally {
    close();
  }
}

function readProjectId({ takesProject }: Command, operands: readonly string[]): string {
  const [projectId = '', ...surplus] = takesProject ? operands : ['', ...operands];
  if (surplus.length > 0) throw new UsageError(`"${surplus[0]}" is one argument too many.`);
  if (takesProject && projectId === '') throw new UsageError('Which project? Name its id first.');
  if (takesProject && !projectIdPattern.test(projectId)) {
    throw new UsageError(
      `"${projectId}" is no project id: 1 to 64 of a-z, 0-9 and -, the first of them no dash.`,
    );
  }
  return projectId;
}

function readPlace({ local, stack, region }: CommonFlags, stateFile: string): StackLocation {
  if (!local) return { kind: 'deployed', stack: stack ?? 'Carillon', region };
  if (stack !== undefined || region !== undefined) {
    throw new UsageError('--local names a place already: leave --stack and --region out.');
  }
  return { kind: 'local', stateFile };
}

function overview(): string {
  const width = Math.max(...[...commands.keys()].map((name) => name.length));
  const lines = [...commands].map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}\n`);
  return `${call} <command> [projectId] [options]\n\n${lines.join('')}\nEach answers --help.\n`;
}

function help(name: string, { summary, takesProject, flags }: Command): string {
  const operand = takesProject ? ' <projectId>' : '';
  const flagLines = describeFlags({ ...flags, ...commonFlags });
  return `${call} ${name}${operand} [options]\n\n${summary}\n\n${flagLines}`;
}
