import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import { withExamples } from '../terminal/command-line.ts';
import { readSecret } from '../terminal/read-secret.ts';
import { paintFor, type Terminal } from '../terminal/terminal.ts';
import { InvalidVapidPair, readVapidPair } from '../vapid-pair.ts';
import { projectCard } from './card.ts';
import { projectIdArgument, projectJson, type RunOnStack, readProjectName } from './command.ts';
import { addLimitOptions, type LimitOptions, readPlan } from './limits.ts';
import { type UserIdsOption, userIdsOption } from './user-ids.ts';

interface CreateOptions extends LimitOptions, UserIdsOption {
  readonly name?: string;
  readonly vapidPublic?: string;
  readonly vapidPrivateFile?: string;
}

export function createCommand(runOnStack: RunOnStack, { input }: Terminal): Command {
  const command = addLimitOptions(
    new Command('create')
      .description('Creates a project and prints its API key card.')
      .addArgument(projectIdArgument())
      .option('--name <text>', 'name of the project (default: its id)', readProjectName),
  )
    .addOption(userIdsOption())
    .option('--vapid-public <key>', 'public key of an existing VAPID pair')
    .option(
      '--vapid-private-file <file>',
      'file with the private key of that pair; - reads standard input',
    )
    .action(async (projectId: string, options: CreateOptions) => {
      const { name, userIds } = options;
      const plan = readPlan(options);
      const vapid = await readKeys(options, command, input);
      await runOnStack(async ({ registry, baseUrl, terminal, print }) => {
        const { project, secretKey, identityKey } = await registry.create({
          projectId,
          plan,
          random: randomBytes,
          ...(name !== undefined && { name }),
          ...(userIds && { userIds }),
          ...(vapid && { vapid }),
        });
        const card = {
          projectId,
          applicationServerKey: project.vapidPublicKey,
          secretKey,
          identityKey,
        };
        print(
          // `secretApiKey` is its former name, printed for one more version.
          { ...projectJson(project), secretKey, secretApiKey: secretKey, identityKey, baseUrl },
          `\n${projectCard(card, baseUrl, paintFor(terminal.output))}\n`,
        );
      });
    });
  return withExamples(
    command,
    'my-site --name "My site"',
    'my-site --subscriber-cap 5000 --send-cap none',
    'my-site --user-ids signed',
    'my-site --vapid-public BPub… --vapid-private-file private-key.txt',
    'my-site --local --json',
  );
}

async function readKeys(
  { vapidPublic, vapidPrivateFile }: CreateOptions,
  command: Command,
  input: Terminal['input'],
) {
  if (vapidPublic === undefined && vapidPrivateFile === undefined) return undefined;
  if (vapidPublic === undefined || vapidPrivateFile === undefined) {
    command.error('--vapid-public and --vapid-private-file must be given together');
  }
  try {
    return readVapidPair(vapidPublic, await readSecret(vapidPrivateFile, input));
  } catch (error) {
    if (error instanceof InvalidVapidPair) command.error(error.message);
    throw error;
  }
}
