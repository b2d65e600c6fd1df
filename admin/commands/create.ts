import { randomBytes } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';
import { limits } from '../../contract/limits.ts';
import { withExamples } from '../terminal/command-line.ts';
import { printable } from '../terminal/printable.ts';
import { paintFor } from '../terminal/terminal.ts';
import { InvalidVapidPair, readVapidPair } from '../vapid-pair.ts';
import { projectCard } from './card.ts';
import { projectIdArgument, projectJson, type RunOnStack } from './command.ts';
import { addLimitOptions, type LimitOptions, readPlan } from './limits.ts';

interface CreateOptions extends LimitOptions {
  readonly name?: string;
  readonly vapidPublic?: string;
  readonly vapidPrivate?: string;
}

export function createCommand(runOnStack: RunOnStack): Command {
  const command = addLimitOptions(
    new Command('create')
      .description('Creates a project and prints its API key card.')
      .addArgument(projectIdArgument())
      .option('--name <text>', 'name of the project (default: its id)', readName),
  )
    .option('--vapid-public <key>', 'public key of an existing VAPID pair')
    .option('--vapid-private <key>', 'private key of that pair')
    .action(async (projectId: string, options: CreateOptions) => {
      const { name } = options;
      const plan = readPlan(options);
      const vapid = readKeys(options, command);
      await runOnStack(async ({ registry, baseUrl, terminal, print }) => {
        const { project, secretKey } = await registry.create({
          projectId,
          plan,
          random: randomBytes,
          ...(name !== undefined && { name }),
          ...(vapid && { vapid }),
        });
        const card = {
          projectId,
          applicationServerKey: project.vapidPublicKey,
          secretApiKey: secretKey,
        };
        print(
          { ...projectJson(project), secretApiKey: secretKey, baseUrl },
          `\n${projectCard(card, baseUrl, paintFor(terminal.output))}\n`,
        );
      });
    });
  return withExamples(
    command,
    'my-site --name "My site"',
    'my-site --subscriber-cap 5000 --send-cap none',
    'my-site --local --json',
  );
}

function readName(name: string): string {
  if (name.length <= limits.projectNameLength && printable(name) === name) return name;
  throw new InvalidArgumentError(
    `Use 1 to ${limits.projectNameLength} characters without control characters.`,
  );
}

function readKeys({ vapidPublic, vapidPrivate }: CreateOptions, command: Command) {
  if (vapidPublic === undefined && vapidPrivate === undefined) return undefined;
  if (vapidPublic === undefined || vapidPrivate === undefined) {
    command.error('--vapid-public and --vapid-private must be given together');
  }
  try {
    return readVapidPair(vapidPublic, vapidPrivate);
  } catch (error) {
    if (error instanceof InvalidVapidPair) command.error(error.message);
    throw error;
  }
}
