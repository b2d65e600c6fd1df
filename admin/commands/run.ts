import { Command, Option } from 'commander';
import { nearestName } from '../../contract/wire/fields.ts';
import { deployName, programName } from '../calls.ts';
import { CommandError, ProjectNotFound } from '../errors.ts';
import { lostTableNames, lostTables } from '../lost-tables.ts';
import type { ProjectRegistry } from '../project-registry.ts';
import { confirm } from '../terminal/ask.ts';
import { runCommandLine, withExamples } from '../terminal/command-line.ts';
import { paintFor, printableJson, progressBar, type Terminal } from '../terminal/terminal.ts';
import { auditCommand } from './audit.ts';
import { calledAs, recorded } from './audit-entry.ts';
import { allProjectIds, type Context, type RunOnStack } from './command.ts';
import { connect, isRunning, type StackLocation } from './connection.ts';
import { createCommand } from './create.ts';
import { deleteCommand } from './delete.ts';
import { doctorCommand } from './doctor.ts';
import { inviteCommand, membersCommand, revokeCommand } from './members.ts';
import { exportCommand, importProjectCommand } from './move.ts';
import { notificationsCommand } from './notifications.ts';
import { pauseCommand, resumeCommand } from './pause.ts';
import { recountCommand } from './recount.ts';
import { restoreCommand } from './restore.ts';
import { rotateCommand } from './rotate.ts';
import { setCommand } from './set.ts';
import { listCommand, showCommand } from './show.ts';
import { subscriptionsCommand } from './subscriptions.ts';
import { tablesCommand } from './tables.ts';
import { usersCommand } from './users.ts';

/** A deployed stack. */
interface Location {
  readonly stack: string;
  /** Undefined: that of the shell. */
  readonly region: string | undefined;
}

const defaultLocation: Location = { stack: 'Carillon', region: undefined };

/** The options of every command. */
interface CommonOptions {
  readonly json?: true;
  readonly local?: true;
  readonly stack: string;
  readonly region?: string;
}

/** The options of every command, and those that several have. */
interface GivenOptions extends CommonOptions, Partial<Pick<Context, 'yes' | 'dryRun'>> {}

/**
 * The operator's command.
 * @param stateFile where a local stack writes its state.
 * @param connectTo opens the connection to a stack.
 * @param location of the stack, unless the arguments name another one.
 * @returns the exit code: 0, 1 if the command failed, 2 if it was called wrongly.
 */
export function runCarillon(
  args: readonly string[],
  terminal: Terminal,
  stateFile: string,
  connectTo = connect,
  location = defaultLocation,
): Promise<0 | 1 | 2> {
  const program = new Command(programName)
    .description('Manages the projects of a stack.')
    .option('--json', 'print JSON')
    .addOption(
      new Option('--local', 'use the local stack, which npm start runs').conflicts([
        'stack',
        'region',
      ]),
    )
    .addOption(new Option('--stack <name>', 'use this deployed stack').default(location.stack))
    .option(
      '--region <region>',
      `AWS region of the stack${location.region === undefined ? " (default: your profile's)" : ''}`,
      location.region,
    );

  let options: GivenOptions = location;
  let call: ReturnType<typeof calledAs>;
  program.hook('preAction', (_, command) => {
    options = command.optsWithGlobals();
    call = calledAs(command);
  });
  const runOnStack: RunOnStack = async (task) => {
    const { yes, dryRun } = options;
    // npm takes a --local before its -- as --no-global, and nothing in a script's environment says so.
    if (stackOptions(program) === '' && (await isRunning(stateFile))) {
      const message = `A local stack is running here: use --local, or --stack ${options.stack} for the deployed one.`;
      throw new CommandError('stack_not_named', message);
    }
    const { close, ...connection } = await connectTo(locationOf(options, stateFile));
    const { registry } = connection;
    const isJson = options.json === true;
    const context: Omit<Context, 'note'> = {
      ...connection,
      terminal,
      isJson,
      yes,
      dryRun,
      paint: paintFor(terminal.output),
      print(value, text) {
        const last = dryRun ? 'This was a dry run: nothing was changed.\n' : '';
        terminal.output.write(isJson ? `${printableJson(value)}\n` : text + last);
      },
      next: (command) => `${programName} ${command}${stackOptions(program)}`,
      confirm: (confirmation) => confirm({ ...confirmation, yes }, terminal),
      async withBar(label, total, run) {
        const { update, stop } = progressBar(terminal.messages, label, total);
        return run(update).finally(stop);
      },
    };
    try {
      await recorded(context, call, (note) => task({ ...context, note }));
    } catch (error) {
      if (error instanceof ProjectNotFound) {
        throw await withNearest(error, registry, context.next('list'));
      }
      throw await asMissingTable(error as Error, connection, context.next('tables restore'));
    } finally {
      close();
    }
  };
  program
    .addCommand(createCommand(runOnStack, terminal))
    .addCommand(showCommand(runOnStack))
    .addCommand(listCommand(runOnStack))
    .addCommand(setCommand(runOnStack))
    .addCommand(rotateCommand(runOnStack, terminal))
    .addCommand(inviteCommand(runOnStack))
    .addCommand(membersCommand(runOnStack))
    .addCommand(revokeCommand(runOnStack))
    .addCommand(deleteCommand(runOnStack))
    .addCommand(notificationsCommand(runOnStack))
    .addCommand(pauseCommand(runOnStack))
    .addCommand(resumeCommand(runOnStack))
    .addCommand(usersCommand(runOnStack))
    .addCommand(auditCommand(runOnStack))
    .addCommand(subscriptionsCommand(runOnStack))
    .addCommand(doctorCommand(runOnStack))
    .addCommand(restoreCommand(runOnStack))
    .addCommand(tablesCommand(runOnStack))
    .addCommand(exportCommand(runOnStack))
    .addCommand(importProjectCommand(runOnStack))
    .addCommand(recountCommand(runOnStack));
  program.addHelpText(
    'after',
    `\nTo deploy: ${deployName} --help\n` +
      '\nExit codes: 0 success, 1 failure, 2 wrong call. Under --json an error is printed to standard\n' +
      'error as { "error": { "code", "message" } }.',
  );
  withExamples(program, 'create my-site --local', 'list --region eu-west-1', 'create --help');
  return runCommandLine(program, args, terminal);
}

/** Adds the project that was probably meant. */
async function withNearest(
  { projectId }: ProjectNotFound,
  registry: ProjectRegistry,
  listCall: string,
): Promise<ProjectNotFound> {
  const nearest = nearestName(projectId, await allProjectIds({ registry }));
  const question = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
  return new ProjectNotFound(projectId, `${question} See all with: ${listCall}`);
}

/** DynamoDB does not say which table it does not have. */
async function asMissingTable(
  error: Error,
  { dynamo, tables }: Pick<Context, 'dynamo' | 'tables'>,
  restoreCall: string,
): Promise<Error> {
  if (error.name !== 'ResourceNotFoundException') return error;
  const lost = await lostTables({ dynamo, tables, service: undefined });
  if (lost.length === 0) return error;
  const message = `Tables of the stack that do not exist: ${lostTableNames(lost)}. Bring them back with: ${restoreCall}`;
  return new CommandError('table_missing', message, { cause: error });
}

/** The options of the call that choose its stack, to choose it again. Empty for the default stack. */
function stackOptions(program: Command): string {
  const { local, ...named } = program.opts<CommonOptions>();
  if (local) return ' --local';
  return (['stack', 'region'] as const)
    .filter((name) => program.getOptionValueSource(name) === 'cli')
    .map((name) => ` --${name} ${named[name]}`)
    .join('');
}

function locationOf({ local, stack, region }: CommonOptions, stateFile: string): StackLocation {
  return local ? { kind: 'local', stateFile } : { kind: 'deployed', stack, region };
}
